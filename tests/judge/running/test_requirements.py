"""What the judge says besides right and wrong: promises, what TF32 hides, what is only slow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
import torch

from graders.judge import discovery
from graders.judge.cases.prepared import prepare
from graders.judge.pipeline import Judge
from graders.judge.records import Case, TensorSpec
from graders.judge.running import jobs
from graders.judge.running.interpret import collect
from graders.judge.sandbox.pool import Outcome
from graders.judge.sandbox.protocol import Status
from tests.support.capturing import SECRET
from tests.support.exercise_records import an_exercise
from tests.support.paths import correct

LATE = """
import triton
import triton.language as tl
import torch

@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n):
    for i in range(n):
        tl.store(out_ptr + i, tl.load(x_ptr + i) + tl.load(y_ptr + i))

def vector_add(x, y):
    out = torch.empty_like(x)
    add_kernel[(1,)](x, y, out, x.numel())
    return out
"""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as running:
        yield running


def test_what_never_ended_in_a_public_case_of_that_size_is_not_slow(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LARGE_CASE_SECONDS", 2.0)
    report = judge.judge_text(LATE, discovery.exercise("vector_add"))
    assert [finding.code for finding in report.findings] == ["timeout"]
    assert report.points == 0


@pytest.mark.parametrize(
    ("sizes", "hidden", "slow"),
    [
        ((10, 100, 100), False, True),
        ((10, 90, 100), False, False),
        ((10, 100, 100), True, False),
    ],
)
def test_slow_is_what_passed_a_public_case_as_large(
    sizes: Sequence[int], hidden: bool, slow: bool
) -> None:
    cases = [
        Case(f"{place}: n={n}", (TensorSpec((n,)), TensorSpec((n,))))
        for place, n in enumerate(sizes)
    ]
    items = prepare(an_exercise(cases=tuple(cases)), cases, SECRET)
    statuses: list[Status] = ["returned", "returned", "timeout"]
    outcomes = [
        Outcome(status, item.expectation.values.to(torch.float32) if status == "returned" else None)
        for item, status in zip(items, statuses, strict=True)
    ]
    found = collect([(item, "grid") for item in items], outcomes)
    found.largest = 3 * 90 if hidden else None  # of two arguments and the result
    assert found.slow == slow


def test_tf32_alone_is_named_alone(judge: Judge) -> None:
    text = correct("matmul")
    rounded = text.replace(', input_precision="ieee"', "")
    assert rounded != text
    report = judge.judge_text(rounded, discovery.exercise("matmul"))
    assert [finding.code for finding in report.findings] == ["tf32-product"]


def test_a_key_may_be_coarse_and_a_tuner_need_not_prune(judge: Judge) -> None:
    """What Triton's own tutorials do is no broken promise."""
    text = correct("autotuned_matmul")
    report = judge.judge_text(text, discovery.exercise("autotuned_matmul"))
    assert (report.points, report.findings) == (report.max_points, ())
