"""The stopwatch: one call timed by the GPU's events and by the host's clock at once.

The functions of torch that tell the time are taken hold of when this module is imported, so
that code which is timed later cannot put others in their place.
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

# Several times the L2 of any GPU in the roofline table, so that nothing of it survives.
FLUSH_BYTES = 512 * 2**20
# About a millisecond in which the GPU idles and the host gets ahead of it.
LEAD_CYCLES = 2_000_000


class NoGpuError(RuntimeError):
    """Timing was asked for on a machine without a CUDA GPU; a CPU's time would mean nothing."""


@dataclass(frozen=True)
class Measurement:
    """One timed call: its result, and its time by the GPU's events and by the host, in ms."""

    result: Any
    event_ms: float
    host_ms: float


@dataclass(frozen=True)
class GpuState:
    """What the driver says of the GPU: clock in MHz, °C, and why it slows down."""

    sm_mhz: int
    celsius: int
    slowed_by: tuple[str, ...] = ()


class Clock(Protocol):
    """What `compare` needs of the hardware; tests put a clock of their own in its place."""

    def time(self, call: Callable[[], Any]) -> Measurement:
        """Run `call` once, with cold caches, and wait until its work is done."""
        ...

    def state(self) -> GpuState | None:
        """The state of the GPU, or None where it cannot be read."""
        ...


class CudaClock:
    """Times calls on the current CUDA device."""

    def __init__(self, flush_bytes: int = FLUSH_BYTES) -> None:
        """Take a buffer of `flush_bytes` bytes on the GPU to flush the L2 cache with.

        Raises:
            NoGpuError: if there is no CUDA GPU.
        """
        if not torch.cuda.is_available():
            raise NoGpuError("there is no CUDA GPU here, and the time of a CPU would mean nothing")
        self._buffer = torch.empty(flush_bytes, dtype=torch.int8, device="cuda")
        self._monitor = _Monitor(torch.cuda.current_device())

    def time(self, call: Callable[[], Any]) -> Measurement:
        """Flush the L2, run `call` once between two events, and wait for the whole device.

        The GPU first idles while the host issues everything, so that the events enclose the
        kernels and not the time that Python takes to launch them. The device as a whole is
        waited for, so work that `call` put on another stream shows in the host's time even
        though the events do not see it. The host's time is that from the first event on.
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
        """Clocks, temperature, power and reasons for slowing down, by the driver."""
        return self._monitor.read()


class _Monitor:
    """Reads the state of one GPU through NVML (the package nvidia-ml-py), where it is there."""

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
        except Exception:  # no package, no driver library, no permission: then it is not read
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
        except Exception:  # a virtual GPU may answer some questions only
            return None
