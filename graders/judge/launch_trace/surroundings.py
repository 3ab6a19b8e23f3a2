"""The pretended GPU that a launcher sees."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from triton_util.explain import offline

# An A100: what fits there fits on any newer GPU.
A100: Mapping[str, Any] = {
    "name": "NVIDIA A100-SXM4-80GB",
    "major": 8,
    "minor": 0,
    "multi_processor_count": 108,
    "total_memory": 80 << 30,
    "warp_size": 32,
    "max_threads_per_multi_processor": 2048,
    "shared_memory_per_block_optin": 163 * 1024,
    "shared_memory_per_multiprocessor": 164 * 1024,
    "regs_per_multiprocessor": 65536,
    "L2_cache_size": 40 << 20,
}


class Idle:
    """A stream or an event that accepts every call and does nothing."""

    cuda_stream, device = 0, torch.device("cuda", 0)

    def __init__(self, *args: Any, **named: Any) -> None:
        """Accept any arguments."""

    def __enter__(self) -> Idle:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there is nothing to undo."""

    def elapsed_time(self, end: object) -> float:
        """Return a meaningless time."""
        return 1.0

    def query(self) -> bool:
        """Return True: everything is done."""
        return True

    def synchronize(self, *args: Any) -> None:
        """Return at once: there is nothing to wait for."""

    record = wait = wait_stream = wait_event = record_event = synchronize


class _Uncompiled(ModuleType):
    """Replaces `torch._dynamo`, and imports the real one for names other than `disable`.

    Many of torch's operations on tensors of the meta device call `disable` to keep torch's compiler
    away from themselves. Here nothing is compiled.
    """

    @staticmethod
    def disable(function: Any = None, *_given: Any, **_options: Any) -> Any:
        """Return the function, or a decorator that does."""
        return (lambda decorated: decorated) if function is None else function

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def without_dynamo() -> None:
    """Keep operations on tensors of the meta device from importing torch's compiler."""
    if "torch._dynamo" not in sys.modules:
        torch._dynamo = sys.modules["torch._dynamo"] = _Uncompiled("torch._dynamo")


class _Driver(offline.CompileOnlyDriver):
    """A driver that reports a GPU with tensors on it, and the properties of Triton's own driver."""

    utils: Any

    def __init__(self, device: Any) -> None:
        super().__init__()
        told = {
            "max_shared_mem": device.shared_memory_per_block_optin,
            "max_num_regs": device.regs_per_multiprocessor,
            "multiprocessor_count": device.multi_processor_count,
        }
        known = {**offline.PROPERTIES, **told}
        self.utils = SimpleNamespace(get_device_properties=lambda device: dict(known))
        self._arch = 10 * int(device.major) + int(device.minor)

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self._arch, 32)

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_benchmarker(self) -> Any:
        from graders.judge.launch_trace.launches import _do_bench

        return _do_bench


def pretend_none() -> None:
    """Make torch report no GPU in this process, permanently. Triton still reports one."""
    device = SimpleNamespace(**A100)
    for name, answer in (("is_available", False), ("device_count", 0)):
        setattr(torch.cuda, name, lambda *args, _answer=answer, **named: _answer)
    driver.set_active(_Driver(device))


def pretend_gpu(properties: Mapping[str, Any] | None = None) -> None:
    """Make torch and Triton report a GPU in this process, permanently."""
    device = SimpleNamespace(**{**A100, **(properties or {})})
    answers: dict[str, Any] = {
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": True,
        "current_device": 0,
        "device_count": 1,
        "get_device_properties": device,
        "get_device_name": device.name,
        "get_device_capability": (device.major, device.minor),
        "memory_allocated": 0,
        "max_memory_allocated": 0,
        "memory_reserved": 0,
        "mem_get_info": (device.total_memory, device.total_memory),
        "get_arch_list": ["sm_80", "sm_90"],
    }
    does_nothing = (
        *("init", "synchronize", "empty_cache", "set_device", "manual_seed", "manual_seed_all"),
        *("reset_peak_memory_stats", "_lazy_init"),
    )
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *args, _answer=answer, **named: _answer)
    for name in does_nothing:
        setattr(torch.cuda, name, lambda *args, **named: None)
    for name in ("Stream", "Event", "device", "device_of", "stream", "graph", "CUDAGraph"):
        setattr(torch.cuda, name, Idle)
    for name in ("current_stream", "default_stream"):
        setattr(torch.cuda, name, lambda *args, **named: Idle())
    with contextlib.suppress(ImportError, AttributeError):
        torch.cuda.nvtx.range = Idle  # type: ignore[assignment]
    driver.set_active(_Driver(device))
