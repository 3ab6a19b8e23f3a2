"""Timing of kernels, and comparison with the limit of the hardware.

    from triton_util.bench import compare, find_gpu, limit_of

    timings = compare(
        {"mine": my_softmax, "torch": lambda x: torch.softmax(x, 1)},
        make_inputs=lambda seed: (normal_tensor(seed, 8192, 4096),),
        check=lambda args, output: ...,
    )
    for timing in timings:
        print(timing)

`compare` needs a CUDA GPU; the statistics and the roofline data work anywhere.
"""

from triton_util.bench.clock import Clock, CudaClock, GpuState, Measurement, NoGpuError
from triton_util.bench.comparing import Check, Contender, Timing, TimingPlan, compare
from triton_util.bench.roofline import (
    Limit,
    floor_of,
    limit_of,
    measure_mine,
    percentage_of_limit,
)
from triton_util.bench.statistics import Interval, median_interval, ratio_interval
from triton_util.hardware import GPUS, Gpu, find_gpu

__all__ = [
    "GPUS",
    "Check",
    "Clock",
    "Contender",
    "CudaClock",
    "Gpu",
    "GpuState",
    "Interval",
    "Limit",
    "Measurement",
    "NoGpuError",
    "Timing",
    "TimingPlan",
    "compare",
    "find_gpu",
    "floor_of",
    "limit_of",
    "measure_mine",
    "median_interval",
    "percentage_of_limit",
    "ratio_interval",
]
