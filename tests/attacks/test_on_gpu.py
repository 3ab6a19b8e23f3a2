"""Kernels that are right on a processor and cheat on a GPU alone: only large cases show it.

They know where they are by the size of the input: the largest one for the interpreter is far
below FIRST_LARGE. What they do to the GPU's worker must harm nobody who comes after them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.records import TensorSpec
from graders.judge.running import interpret
from tests.attacks.attack import HEAD, KERNEL, LAUNCH, honest, launcher
from tests.attacks.remembering import REMEMBERING
from triton_util.report import GateStatus, Verdict

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")

EXERCISE = discovery.exercise("vector_add")
FIRST_LARGE = 1 << 20
STORE = "    tl.store(output_ptr + offsets, x + y, mask=mask)\n"
# What a kernel does in place of its store, or before it, where the input is large.
CHEATS = {
    "leaves the result as it was": "        mask = mask & (offsets < 0)\n",
    "leaves the second half as it was": "        mask = mask & (offsets < n_elements // 2)\n",
    "stores another sum": "        y = y + 1.0\n",
    "rounds to half precision": "        y = y.to(tl.float16).to(tl.float32)\n",
    "changes an input": "        tl.store(x_ptr + offsets, x + y, mask=mask)\n",
    "never ends": "        while n_elements > 0:\n            tl.atomic_add(output_ptr, 0.0)\n",
    "leaves the GPU's memory": "        output_ptr += 1 << 40\n",
}
# Not refused yet: memory from `torch.empty` holds NaN on a GPU, too, so all of it is stored. The
# interpreter refuses every read of such memory, and the sizes that it sees are not large.
ACCEPTED = {
    "leaves what is there already, unless it is NaN": (
        "        there = tl.load(output_ptr + offsets, mask=mask)\n"
        "        mask = mask & (there != there)\n"
    ),
}


def cheating(deed: str) -> str:
    """A right kernel that does the deed for large inputs."""
    branch = f"    if n_elements > {FIRST_LARGE}:\n{deed}"
    return HEAD + KERNEL.replace(STORE, branch + STORE) + launcher(LAUNCH)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(mode="all", official=True) as running, pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpret, "GPU_CASE_SECONDS", 10.0)
        yield running


def sizes(cases: tuple[object, ...]) -> list[int]:
    specs = [case.args[0] for case in cases]  # type: ignore[attr-defined]
    return [spec.shape[0] for spec in specs if isinstance(spec, TensorSpec)]


def test_cases_for_a_gpu_alone_are_larger_than_all_others(judge: Judge) -> None:
    runtime = judge.runtime
    prepared = [*runtime.cases(EXERCISE), *runtime.cases(EXERCISE, hidden=True)]
    others = [item.case for item in prepared]
    assert max(sizes(tuple(others))) < FIRST_LARGE < min(sizes(EXERCISE.large))


@pytest.mark.parametrize("deed", CHEATS)
def test_what_cheats_on_a_gpu_alone_is_refused_there(judge: Judge, deed: str) -> None:
    report = judge.judge_text(cheating(CHEATS[deed]), EXERCISE)
    assert report.gates["interpret"] is GateStatus.PASSED, "vacuous: it is refused before"
    assert report.verdict is Verdict.FAILED
    assert report.gates["gpu"] is GateStatus.FAILED
    assert report.findings
    after = judge.judge_text(honest(), EXERCISE)
    assert (after.verdict, after.points) == (Verdict.PASSED, EXERCISE.max_points)


@pytest.mark.xfail(strict=True, reason="see docs/security.md, What is not promised")
@pytest.mark.parametrize("deed", ACCEPTED)
def test_what_gets_past(judge: Judge, deed: str) -> None:
    assert judge.judge_text(cheating(ACCEPTED[deed]), EXERCISE).verdict is Verdict.FAILED


def test_results_that_are_remembered_gain_no_speed(judge: Judge) -> None:
    matmul = discovery.exercise("matmul")
    usual = judge.judge_text(REMEMBERING.replace("LEAST <= M * N <= CAP", "False"), matmul).speed
    assert usual is not None
    assert usual.problem == ""
    remembered = judge.judge_text(REMEMBERING, matmul).speed
    assert remembered is not None
    assert remembered.problem or remembered.ms > 0.9 * usual.ms
