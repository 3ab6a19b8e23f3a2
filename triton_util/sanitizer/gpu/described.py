"""The GPU that a checked program sees: the one that its kernels are compiled for."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

from triton_util.hardware import GPUS, WARP, Gpu

TARGET_VARIABLE = "TILEWISE_TARGET"
COMPILING_VARIABLE = "TILEWISE_COMPILE"
DEFAULT_TARGET = 90  # the newest that is in wide use
CLOCK_KHZ, MEMORY_KHZ, BUS_BITS = 1_755_000, 2_619_000, 5120  # of an H100
MEMORY_BYTES = 80 << 30


def target() -> int:
    """The compute capability, times 10, that kernels are compiled for."""
    return int(os.environ.get(TARGET_VARIABLE, DEFAULT_TARGET))


def gpu() -> Gpu:
    """A GPU of this capability, or the H100 if the table has none."""
    same = [gpu for gpu in GPUS.values() if gpu.capability == target()]
    return same[0] if same else GPUS["H100"]


def properties() -> SimpleNamespace:
    """What `torch.cuda.get_device_properties` returns."""
    major, minor = divmod(target(), 10)
    known = gpu()
    return SimpleNamespace(
        name=f"NVIDIA {known.name}",
        major=major,
        minor=minor,
        multi_processor_count=known.processors,
        total_memory=MEMORY_BYTES,
        warp_size=WARP,
        max_threads_per_multi_processor=known.architecture.threads,
        regs_per_multiprocessor=known.architecture.registers,
        shared_memory_per_block=48 << 10,
        shared_memory_per_block_optin=known.shared_memory,
        shared_memory_per_multiprocessor=known.architecture.shared_per_processor,
        L2_cache_size=known.l2_bytes,
        clock_rate=CLOCK_KHZ,
        memory_clock_rate=MEMORY_KHZ,
        memory_bus_width=BUS_BITS,
        is_integrated=False,
        is_multi_gpu_board=False,
        gcnArchName="",
    )


def driver_properties() -> dict[str, Any]:
    """What `driver.active.utils.get_device_properties` returns."""
    known = gpu()
    return {
        "max_shared_mem": known.shared_memory,
        "max_num_regs": known.architecture.registers,
        "multiprocessor_count": known.processors,
        "warpSize": WARP,
        "sm_clock_rate": CLOCK_KHZ,
        "mem_clock_rate": MEMORY_KHZ,
        "mem_bus_width": BUS_BITS,
    }
