"""SpeedComparisons for tests: what a run of four contenders gave, without a run."""

from __future__ import annotations

from triton_util.bench import Gpu, find_gpu
from triton_util.bench.speed_comparison import (
    COMPILED,
    MINE,
    MODEL,
    TORCH,
    Runner,
    SpeedComparison,
)


def h200() -> Gpu:
    found = find_gpu("NVIDIA H200")
    assert found is not None
    return found


def runner(label: str, ms: float, *problems: str) -> Runner:
    return Runner(label, ms, 0.99 * ms, 1.01 * ms, 0.01 * ms, 40, problems)


def softmax_comparison(*runners: Runner) -> SpeedComparison:
    """A softmax that moves 268 MB; by default the learner is at half the model's speed."""
    usual = (
        runner(MINE, 0.130),
        runner(MODEL, 0.065),
        runner(TORCH, 0.195),
        runner(COMPILED, 0.070),
    )
    return SpeedComparison(
        "softmax",
        "16384×4096, fp16",
        h200(),
        False,
        2.0**28,
        5.0 * 2**26,
        False,
        runners or usual,
        notes=("the GPU was slowed by its power cap in 12% of rounds",),
        remarks=("line 12: each thread moves `32` bits at a time; <128> are possible.",),
        clocks="1,755 to 1,980 MHz, at most 46 °C",
        versions="torch 2.11.0, triton 3.6.0",
    )
