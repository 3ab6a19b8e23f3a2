"""`torch.cuda` on a machine without CUDA: the CPU answers as one described GPU.

Tensors that a program puts on "cuda" are made on the CPU, and every tensor reports the device
cuda:0, so that programs that test the device use their kernels. One line says so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import torch

from triton_util.sanitizer.gpu import allocations, described, tensors
from triton_util.sanitizer.gpu.module import ModelledEvent, Nothing, Stream
from triton_util.sanitizer.record import VARIABLE


def disguised() -> bool:
    """Whether this process answers programs that ask for CUDA."""
    return bool(_installed)


_installed: list[bool] = []


def install() -> None:
    """Answer `torch.cuda` and device="cuda" in this process; once, and only without a GPU."""
    if _installed or (torch.version.cuda is not None and torch.cuda.is_available()):
        return
    _installed.append(True)
    allocations.install()
    tensors.install(_say_so)
    properties = described.properties
    answers: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_name": lambda device=None: properties().name,
        "get_device_capability": lambda device=None: (properties().major, properties().minor),
        "get_device_properties": lambda device=None: properties(),
        "get_arch_list": lambda: [f"sm_{described.target()}"],
        "is_bf16_supported": lambda including_emulation=True: True,
        "current_stream": lambda device=None: Stream(),
        "default_stream": lambda device=None: Stream(),
        "mem_get_info": lambda device=None: (described.MEMORY_BYTES, described.MEMORY_BYTES),
        "get_rng_state": lambda device=None: torch.get_rng_state(),
        "set_rng_state": lambda state, device=None: torch.set_rng_state(state),
        "get_rng_state_all": lambda: [torch.get_rng_state()],
        "set_rng_state_all": lambda states: torch.set_rng_state(states[0]),
        "manual_seed": _no_result,
        "manual_seed_all": _no_result,
        "memory_stats": lambda device=None: {},
        "memory_summary": lambda *_, **__: "",
        "clock_rate": lambda device=None: described.CLOCK_KHZ // 1000,
    }
    for name in _ZERO:
        answers[name] = lambda *_, **__: 0
    for name in _NOTHING:
        answers[name] = _no_result
    for name, answer in answers.items():
        _replace(torch.cuda, name, answer)
    for name in ("device", "device_of", "stream", "StreamContext"):
        setattr(torch.cuda, name, type(name, (Nothing,), {}))
    for name, answer in _ACCELERATOR.items():
        _replace(torch.accelerator, name, answer)
    torch.cuda.Event, torch.cuda.Stream = ModelledEvent, Stream  # type: ignore[assignment,misc]


# Queries about memory in use, and commands that have no meaning here.
_ZERO = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")
_NOTHING: tuple[str, ...] = ("synchronize", "empty_cache", "set_device", "init", "ipc_collect")
_NOTHING += ("reset_peak_memory_stats",)
_NOTHING += ("reset_max_memory_allocated", "_lazy_init", "set_stream", "seed", "seed_all")


def _no_result(*_: Any, **__: Any) -> None:
    """Do nothing, as a CPU needs none of it."""


_ACCELERATOR: dict[str, Callable[..., Any]] = {
    "is_available": lambda: True,
    "device_count": lambda: 1,
    "current_accelerator": lambda check_available=False: torch.device("cuda"),
    "current_device_index": lambda: 0,
    "synchronize": _no_result,
    "current_stream": lambda device=None: Stream(),
    "set_stream": _no_result,
    "set_device_index": _no_result,
    "empty_cache": _no_result,
}


def _replace(module: Any, name: str, answer: Callable[..., Any]) -> None:
    """Replace a function by an answer; torch's compiler needs a distinct object for each name."""

    def asked(*positional: Any, **named: Any) -> Any:
        return answer(*positional, **named)

    asked.__name__ = asked.__qualname__ = name
    asked.__module__ = module.__name__
    setattr(module, name, asked)


def _say_so() -> None:
    """Print one line for the whole run, from whichever process comes first."""
    from triton_util.sanitizer.record import current

    if VARIABLE in os.environ and current.once("cuda-was-asked-for"):
        name = described.properties().name
        print(
            f'tilewise: "cuda" is answered by the CPU, described as {name} '
            f"(sm_{described.target()}).",
            file=sys.stderr,
        )


def install_driver() -> None:
    """Install the GPU driver that triton and launchers query."""
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver

    from triton_util.explain.offline import CompileOnlyDriver

    class DescribedUtils:
        """The properties of the described GPU."""

        @staticmethod
        def get_device_properties(device: Any = None) -> dict[str, Any]:
            return described.driver_properties()

    class DescribedDriver(CompileOnlyDriver):
        """Reports the GPU that kernels are compiled for, with tensors on the CPU."""

        utils = DescribedUtils()  # type: ignore[assignment]

        def get_current_target(self) -> GPUTarget:
            return GPUTarget("cuda", described.target(), 32)

        def get_active_torch_device(self) -> torch.device:
            return torch.device("cuda", 0) if disguised() else torch.device("cpu")

        def get_device_interface(self) -> Any:
            return torch.cuda if disguised() else torch.cpu

        def get_benchmarker(self) -> Any:
            import triton.testing

            return triton.testing.do_bench

        def get_empty_cache_for_benchmark(self) -> torch.Tensor:
            return torch.empty(1, dtype=torch.int32)

        def clear_cache(self, cache: torch.Tensor) -> None:
            """Do nothing: times are modelled, so the cache does not matter."""

    driver.set_active(DescribedDriver())
