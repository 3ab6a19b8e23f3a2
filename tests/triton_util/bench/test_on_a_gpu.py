"""The stopwatches on a real GPU; `python benchmarks/timing.py` asks them more, and for longer."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from graders.judge import discovery
from graders.judge.sandbox.gpu_lock import hold_gpu
from graders.judge.speed import limits
from graders.judge.speed.gate import Stopwatch
from graders.judge.speed.watched import WatchedWorkers
from graders.judge.submission.loading import Submission, load
from tests.support.submissions import submission
from triton_util.bench.speed_comparison import MINE, MODEL, TORCH

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
RELU = discovery.exercise("relu2d")
NARROW = """
import torch, triton, triton.language as tl

@triton.jit
def relu_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(x < 0, 0.0, x), mask=mask)

def relu2d(x):
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 32),)
    relu_kernel[grid](x, out, x.numel(), BLOCK_SIZE=32, num_warps=1)
    return out
"""


def model() -> Submission:
    path = discovery.model_path(RELU)
    assert path is not None
    return load(path, RELU)


def test_a_comparison_has_every_contender_and_a_share_of_the_limit(tmp_path: Path) -> None:
    with hold_gpu(exclusive=True):
        found = limits.compare_speed(
            RELU, tmp_path, source=NARROW, name="<narrow>", seconds=3.0, compiled_too=False
        )
    mine, best, torch_ = (found.runner(label) for label in (MINE, MODEL, TORCH))
    assert mine is not None
    assert best is not None
    assert torch_ is not None
    assert mine.ms is not None
    assert best.ms is not None
    assert best.ms < mine.ms
    assert 40 < found.percent(best.ms) <= 101


def test_the_sandbox_times_a_submission_fairly() -> None:
    narrow = submission(NARROW, "relu2d")
    with WatchedWorkers(device="cuda") as workers:
        stopwatch = Stopwatch(workers)
        equal = stopwatch.speed(model(), RELU, ((0.5, 1), (0.8, 1)))
        slow = stopwatch.speed(narrow, RELU, ((0.5, 1), (0.8, 1)))
    assert equal is not None
    assert slow is not None
    assert (equal.problem, slow.problem) == ("", "")
    assert 0.9 < equal.fraction < 1.1
    assert equal.bonus == 2
    assert slow.fraction < 0.8
    assert slow.bonus < 2
    assert "loads" not in equal.words
