"""Promises about compiled kernels: which loads of which argument are wide, and what spills."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graders.course.below_triton.mistakes.in_ptx import WIDE_LOADS, no_spills
from graders.judge.compiling.compiled import BrokenPromise, CompiledLaunch, CompilerRequirement
from graders.judge.compiling.process import CompileWorker
from graders.judge.records import Case, TensorSpec
from graders.judge.running import compiled_requirements
from graders.judge.running.compiled_requirements import broken_in_ptx
from tests.support.capturing import planned
from tests.support.exercise_records import an_exercise

HEAD = """
import torch
import triton
import triton.language as tl

@triton.jit
def add_kernel(y_ptr, out_ptr, x_ptr, n, {parameters}BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + {index}, mask=mask)
    y = tl.load(y_ptr + offsets // 2 * 2, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)

def vector_add(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    {launch}
    return out
"""
LAUNCH = "add_kernel[(triton.cdiv(n, 1024),)](y, out, x, n, BLOCK=1024)"
CASES = tuple(
    Case(f"{size}", (TensorSpec((size,)), TensorSpec((size,)))) for size in (0, 64, 68, 69)
)
PROMISES = (*WIDE_LOADS, no_spills())


@pytest.fixture(scope="module")
def worker() -> Iterator[CompileWorker]:
    with CompileWorker(cpu_seconds=20) as warm:
        yield warm


def text(index: str = "offsets", launch: str = LAUNCH, parameters: str = "") -> str:
    return HEAD.format(index=index, launch=launch, parameters=parameters)


def broken(
    worker: CompileWorker, source: str, requirements: tuple[CompilerRequirement, ...] = PROMISES
) -> list[tuple[str, str | None]]:
    """The codes that are told, each with its case."""
    exercise = an_exercise(cases=CASES, compiler_requirements=requirements)
    jobs, _ = planned(source, worker, exercise)
    return [(found.code, found.case) for found in broken_in_ptx(jobs, exercise, worker)]


def test_what_is_wide_where_it_is_known_is_narrow_where_it_is_not(worker: CompileWorker) -> None:
    assert broken(worker, text()) == [("divisibility-untold", "68")]
    told = text(parameters="V: tl.constexpr, ").replace(
        "mask = offsets < n", "mask = offsets < n // V * V"
    )
    told = told.replace(", n, BLOCK", ", n, V=1 if n % 4 else 4, BLOCK")
    assert broken(worker, told) == []


def test_only_the_argument_that_is_named_counts(worker: CompileWorker) -> None:
    """y is read by single elements all the time; x, the third pointer, is promised."""
    assert broken(worker, text("offsets // 2 * 2")) == [("lanes-not-neighbours", "64")]


@pytest.mark.parametrize(
    ("launch", "code"),
    [
        (LAUNCH.replace("1024", "128"), "few-elements-for-each-thread"),
        (LAUNCH.replace("BLOCK=1024", "BLOCK=1024, num_warps=16"), "few-elements-for-each-thread"),
        (LAUNCH.replace("1024", "65536"), "divisibility-untold"),
    ],
)
def test_the_first_broken_promise_is_told(worker: CompileWorker, launch: str, code: str) -> None:
    assert [found for found, _ in broken(worker, text(launch=launch))] == [code]


def test_spills(worker: CompileWorker) -> None:
    huge = text(launch=LAUNCH.replace("1024", "65536"))
    assert broken(worker, huge, (no_spills(),)) == [("registers-spilled", "64")]


def test_memory_of_the_launchers_own_is_no_argument(worker: CompileWorker) -> None:
    launch = "z = torch.zeros(n + 1)\n    add_kernel[(1,)](x, out, z[1:], n, BLOCK=1024)"
    source = text("offsets", launch)
    assert ("divisibility-untold", "68") not in broken(worker, source, WIDE_LOADS[:2])
    assert [code for code, _ in broken(worker, source)] == ["lanes-not-neighbours"]  # x as y_ptr


def test_of_a_tuners_configurations_one_that_keeps_it_is_enough(worker: CompileWorker) -> None:
    tuned = """@triton.autotune(
    configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": %d})], key=["n"]
)
@triton.jit
def add"""
    launch = "add_kernel[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](y, out, x, n)"
    source = text(launch=launch)
    known = WIDE_LOADS[:3]
    assert broken(worker, source.replace("@triton.jit\ndef add", tuned % 1024), known) == []
    neither = broken(worker, source.replace("@triton.jit\ndef add", tuned % 256), known)
    assert [code for code, _ in neither] == ["few-elements-for-each-thread"]


def test_what_is_known_of_a_launch(worker: CompileWorker) -> None:
    seen: list[CompiledLaunch] = []

    def look(launch: CompiledLaunch) -> BrokenPromise | None:
        seen.append(launch)
        return None

    promise = CompilerRequirement("c", "t", "m", "n", lambda x, y: x.shape == (64,), look)
    assert broken(worker, text(), (promise,)) == []
    assert [launch.target for launch in seen] == [80, 90]
    for launch in seen:
        assert (launch.threads, launch.spill_bytes, launch.unplaced) == (128, 0, ())
        assert {load.bits for load in launch.loads_from(0)} == {128}
        assert {load.bits for load in launch.loads_from(1)} == {32}
        assert launch.loads_from(2) == []
        assert launch.kernel.name == "add_kernel"
        assert launch.args == CASES[1].args


def test_what_there_was_no_time_to_compile_is_not_kept(
    worker: CompileWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is known of the launches of the four cases, of which one is empty."""
    left = compiled_requirements.Made({}, frozenset((number, 0) for number in range(4)))
    monkeypatch.setattr(compiled_requirements, "_compiled", lambda *_: left)
    assert broken(worker, text()) == [("too-many-kernels", "64")]


def test_launches_beyond_the_limit_are_left(worker: CompileWorker) -> None:
    """The process lowers 24 of them; the last one breaks the promise."""
    many = "for block in (16, 32, 64, 128, 256, 512, 1024):\n        for warps in (1, 2, 4, 8):\n"
    many += "            add_kernel[(1,)](y, out, x, n, BLOCK=block, num_warps=warps)\n    "
    found = broken(worker, text(launch=many + LAUNCH), (no_spills(),))
    assert [code for code, _ in found] == ["too-many-kernels"]
