"""Which parameter a load reads from, in PTX of several forms and from the compiler itself."""

from __future__ import annotations

import pytest

from triton_util.explain.loads import Load, loads_of, pointers, threads_of

HEADER = """
.visible .entry scale(
	.param .u64 .ptr .global .align 1 scale_param_0,
	.param .u64 .ptr .global .align 1 scale_param_1,
	.param .u32 scale_param_2,
	.param .align 64 .b8 scale_param_3[128],
	.param .u64 .ptr .global .align 1 scale_param_4
)
.reqntid 128, 2
{
	.loc	1 7 3
	ld.param.b64 	%rd1, [scale_param_0];
	ld.param.u64 	%rd2, [scale_param_1];
	ld.param.b32 	%r1, [scale_param_2];
	mov.b64 	%rd3, scale_param_3;
	cvta.param.u64 	%rd4, %rd3;
	cvta.to.global.u64 	%rd5, %rd1;
	mov.u32 	%r2, %tid.x;
"""
FOOTER = """
	ret;
}
	.file	1 "mine.py"
"""


def read(body: str) -> list[tuple[str, int, int | None]]:
    found = loads_of(f"{HEADER}{body}{FOOTER}", "mine.py")
    assert all(load.line == 7 for load in found)
    return [(load.kind, load.bits, load.source) for load in found]


@pytest.mark.parametrize(
    ("instruction", "bits"),
    [
        ("ld.global.b32 { %r9 }, [ %rd1 + 0 ];", 32),
        ("@%p1 ld.global.v4.b32 { %r6, %r7, %r8, %r9 }, [ %rd1 + 16 ];", 128),
        ("@!%p1 ld.global.v2.b64 {%rd8, %rd9}, [%rd1];", 128),
        ("ld.global.b128 %rq1, [%rd1];", 128),
        ("ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+32];", 128),
        ("ld.global.L1::evict_last.L2::128B.v2.b16 {%h1, %h2}, [%rd1];", 32),
        ("ld.global.L1::evict_first.L2::cache_hint.v4.b32 {%r3,%r4,%r5,%r6}, [%rd1], %rd20;", 128),
        ("ld.volatile.global.u16 %rs1, [%rd1];", 16),
        ("mov.u32 %r9, 0x0; @%p2 ld.global.v2.b32 { %r8, %r9 }, [ %rd1 + 0 ];", 64),
    ],
)
def test_forms_of_a_load(instruction: str, bits: int) -> None:
    assert read(instruction) == [("load", bits, 0)]


@pytest.mark.parametrize(
    ("steps", "source"),
    [
        ("add.s64 %rd9, %rd5, 16;", 0),
        ("mul.wide.s32 %rd8, %r2, 4; add.s64 %rd9, %rd2, %rd8;", 1),
        ("mad.wide.s32 %rd9, %r1, 4, %rd2;", 1),
        ("mov.b64 {%r4, %r5}, %rd2;\n\tmov.b64 %rd9, {%r4, %r5};", 1),
        ("selp.b64 %rd9, %rd1, %rd5, %p1;", 0),
        ("selp.b64 %rd9, %rd1, %rd2, %p1;", None),
        ("ld.global.b64 %rd9, [%rd1];", None),
        ("add.s64 %rd9, %rd77, 16;", None),
    ],
)
def test_ways_to_an_address(steps: str, source: int | None) -> None:
    assert read(f"{steps}\n\tld.global.b32 %r9, [%rd9];")[-1] == ("load", 32, source)


def test_a_pointer_that_moves_on_in_a_loop() -> None:
    body = """
	mov.b64 	%rd30, %rd2;
$L__BB0_2:
	ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%rd30];
	add.s64 	%rd30, %rd30, 4096;
	@%p4 bra 	$L__BB0_2;
"""
    assert read(body) == [("load", 128, 1)]


def test_copies() -> None:
    body = """
	cp.async.cg.shared.global [ %r31 + 0 ], [ %rd5 + 0 ], 0x10, %r32;
	cp.async.ca.shared.global [ %r31 + 0 ], [ %rd2 + 0 ], 0x4;
	cp.async.bulk.tensor.2d.shared::cta.global.mbarrier [%r4], [%rd4, {%r5, %r6}], [%r3];
	cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd4, {%r5, %r6}], [%r4];
	cp.async.commit_group;
	st.global.v4.b32 [%rd1], {%r1, %r2, %r3, %r4};
	ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r31];
"""
    assert read(body) == [("async copy", 128, 0), ("async copy", 32, 1), ("bulk copy", 0, 2)]


def test_pointers_and_descriptors_are_counted_and_numbers_are_not() -> None:
    text = f"{HEADER}{FOOTER}"
    assert pointers(text) == tuple(f"scale_param_{number}" for number in (0, 1, 3, 4))
    assert threads_of(text) == 256
    assert (pointers(""), threads_of(""), loads_of("", "mine.py")) == ((), 0, ())


def test_a_header_without_kinds_leaves_addresses_unknown() -> None:
    older = HEADER.replace(".ptr .global .align 1 ", "").replace("[128]", "")
    (load,) = loads_of(f"{older}ld.global.b32 %r9, [%rd1];{FOOTER}", "mine.py")
    assert load == Load("load", 32, 7, None)
