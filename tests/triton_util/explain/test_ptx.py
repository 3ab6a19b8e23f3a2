"""Reading PTX, and what fits on a processor."""

from __future__ import annotations

from collections import Counter

import pytest

from triton_util.explain.occupancy import occupancy
from triton_util.explain.ptx import Access, facts_by_line, total, widest_load
from triton_util.hardware import ARCHITECTURES

PTX = """
.visible .entry kernel(.param .u64 p) .reqntid 128
{
	.reg .b32 	%r<4>;
	.loc	1 10 0                          // mine.py:10:0
$L__func_begin0:
	ld.param.b64 	%rd7, [p];
	.loc	1 12 9                          // mine.py:12:9
	// begin inline asm
	.loc	1 12 9                          // mine.py:12:9
	mov.u32 %r1, 0x0;
	.loc	1 13 9                          // mine.py:13:9
	@%p1 ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];
	// end inline asm
	@!%p2 ld.global.L1::evict_last.v2.b16 {%h1, %h2}, [%rd2];
	.loc	2 216 16, function_name $L__info_string0, inlined_at 1 14 28 // standard.py:216:16
	shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;
	.loc	2 196 12, function_name $L__info_string0, inlined_at 2 216 16 // standard.py:196:12
	add.f32 	%r1, %r2, %r3;
	bar.sync 	0;
	.loc	1 15 3
	cp.async.cg.shared.global [ %r31 + 0 ], [ %rd15 + 0 ], 0x10, %r32;
	cp.async.commit_group;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1];
	st.shared.v4.b16 [%r1], {%h1, %h2, %h3, %h4};
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4};
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%r1}, %rd42, %rd43, %p13, 1, 1, 0, 1;
	.loc	1 16 3
	st.global.b64 [%rd1], %rd2;
	red.global.gpu.relaxed.add.f32 [%rd1], %r1;
	.loc	3 5 5
	ret;
}
	.file	1 "/home" "mine.py"
	.file	2 "/lib/triton/language" "standard.py"
	.file	3 "other.py"
"""


def test_instructions_are_counted_for_their_lines() -> None:
    facts = facts_by_line(PTX, "mine.py")
    assert {line: item.instructions for line, item in facts.items()} == {
        10: 1, 12: 3, 14: 3, 15: 8, 16: 2, 0: 1,
    }  # fmt: skip


def test_braces_of_inline_assembly_do_not_end_the_kernel() -> None:
    scope = "{\n\t.reg .b32 tmp;\n\tmov.b32 tmp, 1;\n}\n"
    found = facts_by_line(PTX.replace("\tmov.u32 %r1, 0x0;\n", scope), "mine.py")
    assert found[12].instructions == 3
    assert found[16].instructions == 2
    assert facts_by_line(f"{PTX}\n\tbar.sync 0;\n", "mine.py")[0].instructions == 1


def test_accesses_and_their_widths() -> None:
    facts = facts_by_line(PTX, "mine.py")
    assert facts[12].accesses == Counter({Access("load", 128): 1, Access("load", 32): 1})
    assert facts[15].accesses == Counter({Access("async copy", 128): 1, Access("bulk copy", 0): 1})
    assert facts[16].accesses == Counter({Access("store", 64): 1, Access("atomic", 32): 1})


def test_what_else_a_line_became() -> None:
    facts = facts_by_line(PTX, "mine.py")
    assert facts[15].tensor_cores == Counter({"mma m16n8k16 f16": 1, "wgmma m64n64k16 f16": 1})
    assert facts[15].shared == 2
    assert facts[14].barriers == 1
    assert facts[14].ptx[0].startswith("shfl")
    whole = total(facts)
    assert whole.instructions == 18
    assert sum(whole.accesses.values()) == 6


@pytest.mark.parametrize(
    ("arch", "registers", "shared", "warps", "programs", "limited_by"),
    [
        (90, 32, 0, 4, 16, "registers"),  # 32 · 32 · 4 · 16 = 65,536
        (90, 24, 0, 4, 16, "threads"),
        (90, 16, 0, 1, 32, "the number of programs"),
        (90, 255, 0, 8, 1, "registers"),
        (90, 33, 0, 4, 12, "registers"),  # 33 registers are handed out as 40
        (80, 32, 48 * 1024, 4, 3, "shared memory"),  # 164 KiB in portions of 49
        (80, 32, 163 * 1024, 4, 1, "shared memory"),
        (80, 32, 164 * 1024, 4, 0, "shared memory"),
        (75, 32, 32 * 1024, 4, 2, "shared memory"),
        (86, 40, 0, 4, 12, "registers"),
    ],
)
def test_occupancy(
    arch: int, registers: int, shared: int, warps: int, programs: int, limited_by: str
) -> None:
    found = occupancy(ARCHITECTURES[arch], registers, shared, warps)
    assert found.programs == programs
    assert found.warps == programs * warps
    assert found.share == pytest.approx(programs * warps / ARCHITECTURES[arch].warps)
    assert found.limited_by == limited_by


def test_the_widest_load_is_found_without_reading_everything() -> None:
    assert widest_load(PTX) == 128
    narrow = "ld.global.b32 { %r1 }, [ %rd1 + 0 ];\nst.global.v4.b32 [ %rd2 + 0 ], { %r1 };"
    assert widest_load(narrow) == 32
    assert widest_load("st.global.v4.b32 [ %rd2 + 0 ], { %r1 };\nadd.f32 %r1, %r2, %r3;") == 0
