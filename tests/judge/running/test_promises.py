"""What the judge says besides right and wrong: promises, what TF32 hides, what is only slow."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.running import jobs
from tests.support.paths import RIGHT_KERNELS

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


def test_what_is_right_and_slow_has_half_of_the_points(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LARGE_CASE_SECONDS", 2.0)
    report = judge.judge_text(LATE, discovery.exercise("vector_add"))
    assert [finding.code for finding in report.findings] == ["too-slow"]
    assert report.points == 0.5 * report.max_points
    wrong = LATE.replace(" + tl.load(y_ptr + i)", " - tl.load(y_ptr + i)")
    assert judge.judge_text(wrong, discovery.exercise("vector_add")).points == 0


def test_tf32_alone_is_named_alone(judge: Judge) -> None:
    text = (RIGHT_KERNELS / "matmul" / "textbook.py").read_text()
    rounded = text.replace(', input_precision="ieee"', "")
    assert rounded != text
    report = judge.judge_text(rounded, discovery.exercise("matmul"))
    assert [finding.code for finding in report.findings] == ["tf32-product"]


def test_a_key_may_be_coarse_and_a_tuner_need_not_prune(judge: Judge) -> None:
    """What Triton's own tutorials do is no broken promise."""
    text = (RIGHT_KERNELS / "autotuned_matmul" / "textbook.py").read_text()
    report = judge.judge_text(text, discovery.exercise("autotuned_matmul"))
    assert (report.points, report.findings) == (report.max_points, ())
