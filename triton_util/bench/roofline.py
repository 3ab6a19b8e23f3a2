"""The limit that a GPU sets to a kernel, and how near a time comes to it.

A kernel must move its bytes and do its operations; the slower of the two sets the limit (the
roofline). With the datasheets' rates (`triton_util.hardware`), a measured time can come near
the limit but never below it. `measure_mine` measures the rates of the GPU at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch

from triton_util.bench.clock import Clock, CudaClock
from triton_util.bench.comparing import TimingPlan, compare
from triton_util.hardware import Gpu

Bound = Literal["memory", "compute"]


@dataclass(frozen=True)
class Limit:
    """The least time that a kernel can take, in milliseconds, and what sets it."""

    ms: float
    bound: Bound


def limit_of(n_bytes: float, n_flops: float, gpu: Gpu, *, tensor_cores: bool = True) -> Limit:
    """The least time for moving `n_bytes` and doing `n_flops` operations on a GPU.

    tensor_cores: whether the operations are those of half-precision matrix products.
    """
    memory_ms = n_bytes / gpu.gbytes_per_second / 1e6
    tflops = gpu.peak_tflops(tensor_cores)
    compute_ms = n_flops / tflops / 1e9
    return Limit(compute_ms, "compute") if compute_ms > memory_ms else Limit(memory_ms, "memory")


def percentage_of_limit(
    ms: float, n_bytes: float, n_flops: float, gpu: Gpu, *, tensor_cores: bool = True
) -> float:
    """The limit as a percentage of a time: how much of the GPU's capability the time uses."""
    return 100 * limit_of(n_bytes, n_flops, gpu, tensor_cores=tensor_cores).ms / ms


def floor_of(
    bytes_read: float, bytes_written: float, n_flops: float, gpu: Gpu, *, tensor_cores: bool = True
) -> float:
    """A time in ms that no kernel can beat, used to reject impossible times.

    It is lower than the limit, because a kernel's writes may still be in the L2 when it ends.
    """
    n_bytes = bytes_read + max(0.0, bytes_written - gpu.l2_bytes)
    return limit_of(n_bytes, n_flops, gpu, tensor_cores=tensor_cores).ms


def measure_mine(clock: Clock | None = None, plan: TimingPlan | None = None) -> Gpu:
    """Measure the rates of the current CUDA device, with torch's own copy and matrix products.

    Raises:
        NoGpuError: if there is no CUDA GPU.
    """
    clock = clock or CudaClock()
    properties: Any = torch.cuda.get_device_properties(torch.cuda.current_device())
    n_elements = min(2 * 2**30, properties.total_memory // 16) // 4
    size = 8192
    copy_ms = _time_of(torch.clone, lambda seed: (_random(seed, n_elements),), clock, plan)
    half_ms = _time_of(torch.matmul, _matrices(size, torch.float16), clock, plan)
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")  # full float32, not TF32
    try:
        fp32_ms = _time_of(torch.matmul, _matrices(size // 2, torch.float32), clock, plan)
    finally:
        torch.set_float32_matmul_precision(precision)
    return Gpu(
        name=f"{properties.name}, measured",
        capability=properties.major * 10 + properties.minor,
        gbytes_per_second=2 * 4 * n_elements / copy_ms / 1e6,
        fp32_tflops=2 * (size // 2) ** 3 / fp32_ms / 1e9,
        fp16_tflops=2 * size**3 / half_ms / 1e9,
        l2_bytes=properties.L2_cache_size,
        processors=properties.multi_processor_count,
        shared_memory=properties.shared_memory_per_block_optin,
        bfloat16=properties.major >= 8,
    )


def _random(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Signed random numbers on the GPU; zeros would run faster than real data."""
    generator = torch.Generator(device="cuda").manual_seed(seed + 2**20)
    return torch.randn(shape, dtype=dtype, device="cuda", generator=generator)


def _matrices(size: int, dtype: torch.dtype) -> Callable[[int], tuple[torch.Tensor, ...]]:
    """A function that makes pairs of square matrices."""
    return lambda seed: (
        _random(2 * seed, size, size, dtype=dtype),
        _random(2 * seed + 1, size, size, dtype=dtype),
    )


def _time_of(
    function: Callable[..., torch.Tensor],
    make_inputs: Callable[[int], tuple[torch.Tensor, ...]],
    clock: Clock,
    plan: TimingPlan | None,
) -> float:
    """The median time of one function, in milliseconds."""
    (timing,) = compare({"it": function}, make_inputs, clock=clock, plan=plan)
    if not timing.believed:
        raise RuntimeError(f"the GPU could not be measured: {timing}")
    return timing.median_ms
