"""A kernel that is right and leaves the purpose of its exercise out passes, with a remark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graders.judge import discovery
from graders.judge.pipeline import Judge
from triton_util.report import Verdict

pytestmark = pytest.mark.slow
ADD = """import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


def vector_add(x, y):
    output = torch.empty_like(x)
    n_elements = x.numel()
    add_kernel[(PROGRAMS,)](x, y, output, n_elements, BLOCK_SIZE=LANES)
    return output
"""


def add(programs: str, lanes: str) -> str:
    return ADD.replace("PROGRAMS", programs).replace("LANES", lanes)


WASTEFUL = {
    "a program for each element": ("vector_add", add("n_elements", "256"), ["idle-programs"]),
    # its mask is true in every lane of every case
    "a single lane": (
        "vector_add",
        add("n_elements", "1"),
        ["not-reached", "one-element-at-a-time"],
    ),
    "nothing wasted": ("vector_add", add("triton.cdiv(n_elements, 256)", "256"), []),
}


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as made:
        yield made


@pytest.mark.parametrize("name", WASTEFUL)
def test_it_passes_with_a_remark(judge: Judge, name: str) -> None:
    exercise, text, remarks = WASTEFUL[name]
    report = judge.judge_text(text, discovery.exercise(exercise), f"<{name}>")
    assert report.verdict is Verdict.PASSED, report.findings
    assert [remark.code for remark in report.remarks] == remarks
