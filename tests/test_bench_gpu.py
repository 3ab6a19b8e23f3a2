"""The stopwatches on a real GPU; `python benchmarks/timing.py` asks them more, and for longer."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from graders.judge import discovery, speed
from graders.judge.gate_speed import Stopwatch
from graders.judge.submission import Submission, load
from graders.judge.workers.watched import WatchedWorkers
from triton_util.bench.standing import MINE, MODEL, TORCH

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
RELU = discovery.exercise("relu2d")
NARROW = """
import torch, triton, triton.language as tl

@triton.jit
def relu_kernel(x_ptr, out_ptr, n_rows, n_columns, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for column in range(0, n_columns):
        offsets = rows * n_columns + column
        x = tl.load(x_ptr + offsets, mask=rows < n_rows)
        tl.store(out_ptr + offsets, tl.where(x < 0, 0.0, x), mask=rows < n_rows)

def relu2d(x):
    out = torch.empty_like(x)
    n_rows, n_columns = x.shape
    relu_kernel[(triton.cdiv(n_rows, 32),)](x, out, n_rows, n_columns, BLOCK=32)
    return out
"""


def model() -> Submission:
    path = discovery.model_path(RELU)
    assert path is not None
    return load(path, RELU)


def test_a_standing_has_every_contender_and_a_share_of_the_limit(tmp_path: Path) -> None:
    found = speed.stand(
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
    narrow = Submission("narrow.py", NARROW, "relu2d")
    with WatchedWorkers(device="cuda") as workers:
        stopwatch = Stopwatch(workers)
        equal = stopwatch.speed(model(), RELU, ((0.5, 1), (0.8, 1)))
        slow = stopwatch.speed(narrow, RELU, ((0.5, 1), (0.8, 1)))
    assert equal is not None
    assert slow is not None
    assert (equal.problem, slow.problem) == ("", "")
    assert 0.9 < equal.fraction < 1.1
    assert equal.bonus == 2
    assert slow.fraction < 0.5
    assert slow.bonus == 0
