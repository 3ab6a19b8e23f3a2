"""A modelled time for a launch: the least that a GPU with given figures would need.

An interpreter cannot measure a GPU.  The model adds up what it can count: bytes that miss an L2 of
the given size, bytes that go through it, floating-point work, and idle multiprocessors.
It is useful for comparing configurations of one kernel; it is never called a measurement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triton_util.hardware import GPUS
from triton_util.interpreter.watchers.sectors import SECTOR_BYTES
from triton_util.interpreter.watchers.traffic import Traffic

# Above this number of block loads, the cache is not simulated load by load.
MOST_SIMULATED_LOADS = 200_000


_H100 = GPUS["H100"]


@dataclass(frozen=True)
class DeviceModel:
    """Figures of a GPU: bytes and operations per second, sizes in bytes."""

    name: str = "modelled GPU with the figures of an H100"
    multiprocessors: int = _H100.processors
    memory_bandwidth: float = _H100.gbytes_per_second * 1e9
    l2_bandwidth: float = 10.0e12
    l2_bytes: int = _H100.l2_bytes
    vector_flops: float = _H100.fp32_tflops * 1e12
    matrix_flops: float = _H100.fp16_tflops * 1e12
    warps_per_multiprocessor: int = _H100.architecture.warps
    registers_per_multiprocessor: int = _H100.architecture.registers
    shared_per_multiprocessor: int = _H100.architecture.shared_per_processor
    launch_seconds: float = 3.0e-6


class ModelledMilliseconds(float):
    """A time that was computed from counts, not measured; its text says so."""

    def __repr__(self) -> str:
        return f"{float(self):.6g} ms (modelled, not measured)"

    __str__ = __repr__


def modelled_ms(
    traffic: Traffic,
    programs: int,
    options: Mapping[str, Any],
    device: DeviceModel | None = None,
    resources: Mapping[str, int] | None = None,
) -> ModelledMilliseconds:
    """Milliseconds for one launch.

    traffic: that of the launch.  programs: size of the grid.  options: num_warps and so on.
    resources: of the compiled kernel, if known: registers (per thread), shared (bytes), spills
    (bytes per thread).
    """
    gpu = device or DeviceModel()
    resident = _resident_programs(gpu, options, resources or {})
    if resident == 0:
        return ModelledMilliseconds(math.inf)
    at_once = resident * gpu.multiprocessors
    dram = _dram_bytes(traffic, gpu, at_once)
    l2 = sum(a.sectors * SECTOR_BYTES + a.atomic for a in traffic.arguments.values())
    dots = traffic.flops.get("dot", 0)
    others = sum(traffic.flops.values()) - dots
    work = max(
        dram / gpu.memory_bandwidth,
        l2 / gpu.l2_bandwidth,
        dots / gpu.matrix_flops + others / gpu.vector_flops,
    )
    turns = max(1, math.ceil(programs / gpu.multiprocessors))
    busy = programs / (turns * gpu.multiprocessors) if programs else 1.0
    spilled = 1.0 + (resources or {}).get("spills", 0) / 64.0
    return ModelledMilliseconds(1e3 * (gpu.launch_seconds + work / busy * spilled))


def _resident_programs(
    gpu: DeviceModel, options: Mapping[str, Any], resources: Mapping[str, int]
) -> int:
    """Programs that fit on one multiprocessor at once."""
    warps = int(options.get("num_warps") or 4)
    limits = [gpu.warps_per_multiprocessor // warps, 32]
    if resources.get("registers"):
        limits.append(gpu.registers_per_multiprocessor // (resources["registers"] * 32 * warps))
    if resources.get("shared"):
        limits.append(gpu.shared_per_multiprocessor // resources["shared"])
    return max(0, min(limits))


def _dram_bytes(traffic: Traffic, gpu: DeviceModel, at_once: int) -> int:
    stored = sum(a.distinct_stored + a.atomic for a in traffic.arguments.values())
    loads = sum(load.first.size for load in traffic.block_loads)
    if loads > MOST_SIMULATED_LOADS:
        return stored + sum(a.distinct_loaded for a in traffic.arguments.values())
    return stored + traffic.l2(gpu.l2_bytes, at_once).missed_bytes
