"""The answers of the described GPU to the functions of `torch.cuda` and `torch.accelerator`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch
import torch.cuda.nvtx
import torch.cuda.profiler

from triton_util.sanitizer.gpu import described, graphs
from triton_util.sanitizer.gpu.module import ModelledEvent, Nothing, Stream

# Figures of memory in use and of the board; commands that have no meaning here.
_ZERO = (
    "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved",
    "memory_cached", "max_memory_cached", "utilization", "memory_usage", "device_memory_used",
    "temperature", "power_draw", "get_sync_debug_mode", "current_blas_handle",
    "current_solver_handle",
)  # fmt: skip
_NOTHING = (
    "synchronize", "empty_cache", "empty_host_cache", "set_device", "init", "ipc_collect",
    "set_stream", "seed", "seed_all", "manual_seed", "manual_seed_all", "_lazy_init",
    "set_sync_debug_mode", "set_per_process_memory_fraction", "reset_peak_memory_stats",
    "reset_max_memory_allocated", "reset_max_memory_cached", "reset_accumulated_memory_stats",
    "reset_peak_host_memory_stats", "reset_accumulated_host_memory_stats", "set_device_index",
    "set_device_idx", "check_error", "caching_allocator_enable",
)  # fmt: skip
_NVTX = ("mark", "range_push", "range_pop", "range_start", "range_end")


def install() -> None:
    """Replace the functions of these modules, wherever torch exports them."""
    cuda = {**_about_the_gpu(), **_about_memory(), **_about_random_numbers()}
    cuda |= {name: lambda *_, **__: 0 for name in _ZERO}
    cuda |= dict.fromkeys(_NOTHING, _no_result)
    for module in (torch.cuda, torch.cuda.memory, torch.cuda.random, torch.cuda.graphs):
        for name, answer in cuda.items():
            if module is torch.cuda or hasattr(module, name):
                _replace(module, name, answer)
    for name in dir(torch.accelerator):
        known = _ACCELERATOR.get(name, cuda.get(name))
        if known is not None:
            _replace(torch.accelerator, name, known)
    for name in _NVTX:
        _replace(torch.cuda.nvtx, name, lambda *_, **__: 0)
    for name in ("start", "stop"):
        _replace(torch.cuda.profiler, name, _no_result)
    _install_classes()


def _install_classes() -> None:
    cuda: Any = torch.cuda
    for name in ("device", "device_of", "stream", "StreamContext", "MemPool", "use_mem_pool"):
        setattr(cuda, name, type(name, (Nothing,), {}))
    cuda.Event, cuda.Stream, cuda.ExternalStream = ModelledEvent, Stream, Stream
    for module in (cuda, cuda.graphs):
        module.CUDAGraph, module.graph = graphs.Graph, graphs.Capture


def _about_the_gpu() -> dict[str, Callable[..., Any]]:
    properties = described.properties
    return {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_name": lambda device=None: properties().name,
        "get_device_capability": _capability,
        "get_device_properties": lambda device=None: properties(),
        "get_arch_list": lambda: [f"sm_{described.target()}"],
        "is_bf16_supported": lambda including_emulation=True: True,
        "can_device_access_peer": lambda device, peer_device: False,
        "current_stream": lambda device=None: Stream(),
        "default_stream": lambda device=None: Stream(),
        "get_stream_from_external": lambda data_ptr, device=None: Stream(),
        "clock_rate": lambda device=None: described.CLOCK_KHZ // 1000,
        "is_current_stream_capturing": graphs.capturing,
        "graph_pool_handle": graphs.pool_handle,
        "make_graphed_callables": graphs.graphed,
    }


def _about_memory() -> dict[str, Callable[..., Any]]:
    return {
        "mem_get_info": lambda device=None: (described.MEMORY_BYTES, described.MEMORY_BYTES),
        "get_memory_info": lambda device=None: (described.MEMORY_BYTES, described.MEMORY_BYTES),
        "memory_stats": lambda device=None: defaultdict(int),
        "memory_stats_as_nested_dict": lambda device=None: {},
        "host_memory_stats": lambda: defaultdict(int),
        "host_memory_stats_as_nested_dict": dict,
        "memory_summary": lambda *_, **__: "",
        "memory_snapshot": lambda *_, **__: [],
        "get_allocator_backend": lambda: "native",
        "get_per_process_memory_fraction": lambda device=None: 1.0,
    }


def _about_random_numbers() -> dict[str, Callable[..., Any]]:
    return {
        "initial_seed": lambda: torch.initial_seed(),
        "get_rng_state": lambda device=None: torch.get_rng_state(),
        "set_rng_state": lambda new_state, device=None: torch.set_rng_state(new_state),
        "get_rng_state_all": lambda: [torch.get_rng_state()],
        "set_rng_state_all": lambda new_states: torch.set_rng_state(new_states[0]),
    }


def _capability(device: Any = None) -> tuple[int, int]:
    return described.properties().major, described.properties().minor


def _no_result(*_: Any, **__: Any) -> None:
    """Do nothing, as a CPU needs none of it."""


_ACCELERATOR: dict[str, Callable[..., Any]] = {
    "current_accelerator": lambda check_available=False: torch.device("cuda"),
    "current_device_index": lambda: 0,
    "current_device_idx": lambda: 0,
    # A dictionary here, and a pair of numbers in torch.cuda.
    "get_device_capability": lambda device=None: {
        "supported_dtypes": {torch.float16, torch.bfloat16, torch.float32, torch.float64}
    },
}


def _replace(module: Any, name: str, answer: Callable[..., Any]) -> None:
    """Replace a function by an answer; torch's compiler needs a distinct object for each name."""

    def asked(*positional: Any, **named: Any) -> Any:
        return answer(*positional, **named)

    asked.__name__ = asked.__qualname__ = name
    asked.__module__ = module.__name__
    setattr(module, name, asked)
