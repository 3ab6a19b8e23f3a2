"""Facts that the judge finds out itself: answers in tables, replaced memory, slowness, aliases.

Each of these submissions computes its result in Python, or says something about itself that is not
true. None of it may earn a point.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.running import jobs
from tests.attacks.attack import HEAD, KERNEL, LAUNCH, honest, launcher
from tests.support.paths import wrong
from triton_util.report import Report

ORDER = """
def order(n_rows, n_cols, group):
    found = []
    for first in range(0, n_rows, group):
        for col in range(n_cols):
            found += [(row, col) for row in range(first, min(first + group, n_rows))]
    return found

"""
DIGITS = """
@triton.jit
def spell(output_ptr, number, n, OFFSET):
    for place in range(8):
        value = (number >> (8 * place)) & 255
        tl.store(output_ptr + OFFSET + place, value, mask=OFFSET + place < n)

"""
IN_ARGUMENTS = (
    ORDER
    + DIGITS
    + """
def swizzle_ids(n_rows, n_cols, group):
    flat = [number for pair in order(n_rows, n_cols, group) for number in pair]
    output = torch.empty((n_rows * n_cols, 2), dtype=torch.int64, device="cuda")
    for first in range(0, len(flat), 8):
        number = sum(value << (8 * place) for place, value in enumerate(flat[first:first + 8]))
        spell[(1,)](output, number - (1 << 63), len(flat), first)
    return output
"""
)
IN_A_TABLE = (
    ORDER
    + """
@triton.jit
def copy(output_ptr, table_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(output_ptr + offsets, tl.load(table_ptr + offsets, mask=mask), mask=mask)

def swizzle_ids(n_rows, n_cols, group):
    flat = [number for pair in order(n_rows, n_cols, group) for number in pair]
    output = torch.empty((n_rows * n_cols, 2), dtype=torch.int64, device="cuda")
    for first in range(0, len(flat), 4096):
        part = torch.tensor(flat[first:first + 4096], dtype=torch.int64, device="cuda")
        copy[(4,)](output.view(-1)[first:], part, part.numel(), BLOCK=1024)
    return output
"""
)
AROUND_THE_KERNEL = (
    ORDER
    + """
def kernel_of(table):
    TABLE = tl.constexpr(tuple(table))

    @triton.jit
    def write(output_ptr, N: tl.constexpr):
        for place in tl.static_range(N):
            tl.store(output_ptr + place, TABLE[place])

    return write

def swizzle_ids(n_rows, n_cols, group):
    flat = [number for pair in order(n_rows, n_cols, group) for number in pair]
    output = torch.empty((n_rows * n_cols, 2), dtype=torch.int64, device="cuda")
    for first in range(0, len(flat), 200):
        part = flat[first:first + 200]
        kernel_of(part)[(1,)](output.view(-1)[first:], N=len(part))
    return output
"""
)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as running:
        yield running


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


@pytest.mark.parametrize("text", [IN_ARGUMENTS, IN_A_TABLE, AROUND_THE_KERNEL])
def test_an_order_of_tiles_that_python_computes_earns_nothing(judge: Judge, text: str) -> None:
    report = judge.judge_text(HEAD + text, discovery.exercise("swizzle_ids"))
    assert report.points == 0
    assert codes(report)[0] in ("python-walks", "torch-computes")


def test_a_result_whose_data_is_an_argument_earns_nothing(judge: Judge) -> None:
    deed = LAUNCH.replace("add_kernel[", "output.data = x\nadd_kernel[")
    report = judge.judge_text(HEAD + KERNEL + launcher(deed), discovery.exercise("vector_add"))
    assert report.points == 0
    assert "shares its memory with argument 1" in report.findings[0].message


def test_an_endless_loop_is_not_slowness(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "CASE_SECONDS", 2.0)
    monkeypatch.setattr(jobs, "LARGE_CASE_SECONDS", 2.0)
    endless = "    i = n_elements\n    while i > 4999:\n        i += 0\n    tl.store("
    text = honest().replace("    tl.store(", endless)
    report = judge.judge_text(text, discovery.exercise("vector_add"))
    assert (codes(report), report.points) == (["timeout"], 0)


def test_a_promise_is_not_escaped_by_another_name(judge: Judge) -> None:
    given = wrong("swizzle_ids", "swizzle_given__builtin")
    alias = "from triton.language import swizzle2d as order\n"
    text = alias + given.replace("tl.swizzle2d(", "order(")
    exercise = discovery.exercise("swizzle_ids")
    report = judge.judge_text(text, exercise)
    assert (codes(report), report.points) == (["swizzle-given"], exercise.max_points / 2)


AS_TRIALS = """
def install():
    import sys

    recording = sys.modules["graders.judge.launch_trace.launches"].Launches
    steps = sys.modules["graders.judge.plan.steps"]
    real = recording.launch

    def lie(self, *given):
        with self.recorder.branch() as launched:
            real(self, *given)
        trial = steps.Trial({}, (), tuple(launched), (), ())
        self.recorder.add(steps.Tune(0, "", 2, False, "", {}, (trial, trial)))

    recording.launch = lie

DONE = install()
"""


def test_launches_that_are_called_trials_of_a_tuner_earn_nothing(judge: Judge) -> None:
    """No bytes of a trial are counted."""
    text = HEAD + KERNEL + AS_TRIALS + launcher("done = DONE\n" + LAUNCH)
    report = judge.judge_text(text, discovery.exercise("vector_add"))
    assert report.points == 0
    assert "an autotuner launches other kernels than it has tried" in report.findings[0].message


MASK_IN_WORDS = """
import random

@triton.jit
def drop(x_ptr, residual_ptr, words_ptr, output_ptr, n, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    kept = (tl.load(words_ptr + offsets // 32, mask=mask) >> (offsets % 32)) & 1
    x = tl.load(x_ptr + offsets, mask=mask) * scale * kept
    tl.store(output_ptr + offsets, tl.load(residual_ptr + offsets, mask=mask) + x, mask=mask)

def dropout_residual(x, residual, p, seed):
    n, drawn = x.numel(), random.Random(seed)
    words = [drawn.getrandbits(32) - (1 << 31) for _ in range(n // 32 + 1)]
    table = torch.tensor(words[:4096], dtype=torch.int32, device="cuda")
    output = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    drop[(triton.cdiv(n, 1024),)](x, residual, table, output, n, 1 / (1 - p), BLOCK=1024)
    return output
"""


def test_a_mask_that_python_draws_is_refused(judge: Judge) -> None:
    report = judge.judge_text(HEAD + MASK_IN_WORDS, discovery.exercise("dropout_residual"))
    assert "many numbers that Python computed" in report.findings[0].message
    assert report.points == 0


WORK_IN_A_TRIAL = """
@triton.autotune([triton.Config({"B": 1024}, num_warps=w) for w in (4, 8)], key=["n"])
@triton.jit
def relu(x_ptr, output_ptr, kept, n, B: tl.constexpr):
    pid = tl.program_id(0)
    at = pid.to(tl.int64) * B + tl.arange(0, B)
    runs = tl.load(kept[0] + pid)
    if runs < 2:
        x = tl.load(x_ptr + at, mask=at < n, other=0.0)
        for _ in range(20):
            x = tl.maximum(x, tl.load(x_ptr + at, mask=at < n, other=0.0))
        tl.store(output_ptr + at, tl.maximum(x, 0.0), mask=at < n)
        tl.store(kept[0] + pid, runs + 1)

def relu2d(x):
    output, n = torch.empty_like(x), x.numel()
    runs = torch.zeros(n // 1024 + 1, dtype=torch.int32, device=x.device)
    relu[lambda given: (triton.cdiv(n, given["B"]),)](x, output, (runs,), n)
    return output
"""


def test_bytes_that_only_the_trials_of_a_tuner_move_are_counted(judge: Judge) -> None:
    exercise = discovery.exercise("relu2d")
    report = judge.judge_text(HEAD + WORK_IN_A_TRIAL, exercise)
    assert (codes(report), report.points) == (["too-much-traffic"], exercise.max_points / 2)
