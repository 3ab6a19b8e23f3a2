"""The stopwatch: one call timed by the GPU's events and by the host's clock at once.

This module stores torch's timing functions when it is imported, so that the timed code cannot
replace them later.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch

_Event: Any = torch.cuda.Event
_synchronize = torch.cuda.synchronize
_sleep: Any = torch.cuda._sleep  # occupies the GPU for a number of its cycles
_now = time.perf_counter

# Several times the L2 of any GPU in the table of hardware, so that no input stays in the cache.
FLUSH_BYTES = 512 * 2**20
# The GPU is occupied for about a millisecond, in which the host gets ahead of it.
LEAD_CYCLES = 2_000_000


class NoGpuError(RuntimeError):
    """Timing needs a CUDA GPU, and this machine has none; a CPU's time would mean nothing."""


@dataclass(frozen=True)
class Measurement:
    """One timed call: its result, and its time by the GPU's events and by the host, in ms."""

    result: Any
    event_ms: float
    host_ms: float


@dataclass(frozen=True)
class GpuState:
    """The driver's report on the GPU: clock in MHz, °C, and why it slows down."""

    sm_mhz: int
    celsius: int
    slowed_by: tuple[str, ...] = ()


class Clock(Protocol):
    """What `compare` needs from the hardware; tests pass a clock of their own instead."""

    def time(self, call: Callable[[], Any]) -> Measurement:
        """Run `call` once, with cold caches, and wait until its work is done."""
        ...

    def state(self) -> GpuState | None:
        """The state of the GPU, or None if it cannot be read."""
        ...


class CudaClock:
    """Times calls on the current CUDA device."""

    def __init__(self, flush_bytes: int = FLUSH_BYTES) -> None:
        """Allocate a buffer of `flush_bytes` bytes on the GPU to flush the L2 cache with.

        Raises:
            NoGpuError: if there is no CUDA GPU.
        """
        if not torch.cuda.is_available():
            raise NoGpuError("there is no CUDA GPU here, and the time of a CPU would mean nothing")
        self._buffer = torch.empty(flush_bytes, dtype=torch.int8, device="cuda")
        self._monitor = _Monitor(torch.cuda.current_device())

    def time(self, call: Callable[[], Any]) -> Measurement:
        """Flush the L2, run `call` once between two events, and wait for the whole device.

        The GPU is first kept busy while the host issues everything. So the events enclose the
        kernels, not the time that Python takes to launch them. Waiting for the whole device makes
        work on other streams count in the host's time, although the events do not see it. The
        host's time starts at the first event.
        """
        lead, start, end = (_Event(enable_timing=True) for _ in range(3))
        _synchronize()
        begin = _now()
        lead.record()
        _sleep(LEAD_CYCLES)
        self._buffer.zero_()
        start.record()
        result = call()
        end.record()
        _synchronize()
        total_ms = (_now() - begin) * 1e3
        return Measurement(result, start.elapsed_time(end), total_ms - lead.elapsed_time(start))

    def state(self) -> GpuState | None:
        """Clocks, temperature, power and reasons for slowing down, from the driver."""
        return self._monitor.read()


class _Monitor:
    """Reads the state of one GPU through NVML (the package nvidia-ml-py), if installed."""

    # Bits of nvmlClocksEventReasons that mean slower than the GPU could be.
    REASONS = (
        (0x04, "power cap"),
        (0x08, "hardware slowdown"),
        (0x20, "thermal limit"),
        (0x40, "hardware thermal slowdown"),
        (0x80, "power brake"),
    )

    def __init__(self, index: int) -> None:
        self._nvml: Any = None
        try:
            pynvml = importlib.import_module("pynvml")
            pynvml.nvmlInit()
            uuid = f"GPU-{torch.cuda.get_device_properties(index).uuid}"
            self._handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
            self._nvml = pynvml
        except Exception:  # no package, driver library or permission: there is no state then
            self._nvml = None

    def read(self) -> GpuState | None:
        """The state now, or None."""
        nvml = self._nvml
        if nvml is None:
            return None
        try:
            bits = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._handle)
            return GpuState(
                sm_mhz=nvml.nvmlDeviceGetClockInfo(self._handle, nvml.NVML_CLOCK_SM),
                celsius=nvml.nvmlDeviceGetTemperature(self._handle, nvml.NVML_TEMPERATURE_GPU),
                slowed_by=tuple(name for bit, name in self.REASONS if bits & bit),
            )
        except Exception:  # a virtual GPU may answer only some queries
            return None
