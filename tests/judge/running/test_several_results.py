"""A launcher that returns several tensors: each is judged, and named where it is wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from graders.judge.pipeline import Judge
from graders.judge.records import ExpectedWrong, Misconception, ReturnedTensor
from tests.support.exercise_records import an_exercise
from triton_util.report import Report, Verdict

SIGN_LOST = Misconception(
    code="sign-lost",
    title="The difference has lost its sign",
    message="It is |x - y|.",
    next_step="Leave the absolute value out.",
    expected_wrong=(ExpectedWrong(lambda x, y: (x - y).abs()),),
    result=1,
)
BOTH = an_exercise(
    name="sum_and_difference",
    reference=lambda x, y: (x + y, x - y),
    misconceptions=(SIGN_LOST,),
    results=(ReturnedTensor("the sum"), ReturnedTensor("the difference", torch.float32)),
)
SUBMISSION = """
import torch
import triton
import triton.language as tl


@triton.jit
def both_kernel(x_ptr, y_ptr, sum_ptr, difference_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(sum_ptr + offsets, x + y, mask=mask)
    tl.store(difference_ptr + offsets, x - y, mask=mask)


def sum_and_difference(x, y):
    total, difference = torch.empty_like(x), torch.empty_like(x)
    n = x.numel()
    both_kernel[(triton.cdiv(n, 256),)](x, y, total, difference, n, BLOCK_SIZE=256)
    return total, difference
"""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(allow_unsandboxed=True) as opened:
        yield opened


def judged(judge: Judge, old: str = "", new: str = "") -> Report:
    assert old in SUBMISSION
    return judge.judge_text(SUBMISSION.replace(old, new) if old else SUBMISSION, BOTH)


def test_both_right_is_passed_and_a_case_counts_once(judge: Judge) -> None:
    report = judged(judge)
    assert report.verdict is Verdict.PASSED, report.findings
    assert (report.cases_passed, report.cases_total) == (3, 3)


def test_one_wrong_result_fails_and_is_named(judge: Judge) -> None:
    report = judged(judge, "x - y, mask", "tl.abs(x - y), mask")
    assert report.verdict is Verdict.FAILED
    assert (report.cases_passed, report.cases_total) == (0, 3)
    (finding,) = report.findings
    assert finding.code == "sign-lost"
    assert "the difference is looked at here" in finding.message


def test_a_result_that_no_kernel_stores_is_refused(judge: Judge) -> None:
    line = "    tl.store(difference_ptr + offsets, x - y, mask=mask)\n"
    report = judged(judge, line)
    assert report.verdict is Verdict.FAILED
    assert "the difference is looked at here" in report.findings[0].message


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("return total", "where 2 are expected: the sum and the difference"),
        ("return total, difference, x", "a tuple of 3 values, where 2 are expected"),
        ("return None", "None, where 2 are expected"),
        ("return total, x", "shares its memory with argument 1"),
        ("return total, n", "a value of type int"),
    ],
)
def test_what_is_returned_instead_is_said(judge: Judge, returned: str, told: str) -> None:
    report = judged(judge, "return total, difference", returned)
    assert report.findings[0].code == "wrong-return"
    assert told in report.findings[0].message


def test_a_list_is_as_good_as_a_tuple(judge: Judge) -> None:
    report = judged(judge, "return total, difference", "return [total, difference]")
    assert report.verdict is Verdict.PASSED, report.findings


def test_the_same_tensor_twice_is_refused(judge: Judge) -> None:
    report = judged(judge, "return total, difference", "return total, total")
    assert report.verdict is Verdict.FAILED
