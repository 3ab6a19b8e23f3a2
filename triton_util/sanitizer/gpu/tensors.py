"""Tensors that a program puts on "cuda": made on the CPU, but they report the device cuda:0.

The functions that make tensors are replaced in torch itself, not by a torch mode: a mode belongs to
a thread, and is not active while autograd calls a program's backward pass.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _device

_CPU = torch.device("cpu")
_MAKERS = (
    "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_permuted", "empty_strided",
    "eye", "full", "full_like", "linspace", "logspace", "ones", "ones_like", "rand", "rand_like",
    "randint", "randint_like", "randn", "randn_like", "randperm", "scalar_tensor", "tensor",
    "tril_indices", "triu_indices", "zeros", "zeros_like", "hann_window", "normal", "load",
    "sparse_coo_tensor", "bartlett_window", "set_default_device", "range",
)  # fmt: skip
_METHODS = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros")
_held: dict[int, Any] = {}  # storages that are on "cuda", weakly, by address


def install(say_so: Callable[[], None]) -> None:
    """Replace the functions that make tensors; `say_so` is called when a program asks for CUDA."""
    for name in _MAKERS:
        original = getattr(torch, name, None)
        if original is not None:
            setattr(torch, name, _on_the_cpu(original, say_so))
    for name in _METHODS:
        setattr(torch.Tensor, name, _on_the_cpu(getattr(torch.Tensor, name), say_so))
    _replace_moves(say_so)
    _replace_answers()
    torch.Generator = _on_the_cpu_class(torch.Generator)  # type: ignore[misc]
    context: Any = _device.DeviceContext
    made = context.__init__
    context.__init__ = lambda self, device: made(self, _translated(device))


def is_cuda(device: Any) -> bool:
    """Whether a program means CUDA by this: "cuda", "cuda:1", a device, or a number."""
    if isinstance(device, torch.device):
        return device.type == "cuda"
    if isinstance(device, str):
        return device == "cuda" or device.startswith("cuda:")
    return isinstance(device, int) and not isinstance(device, bool)


def _translated(device: Any) -> Any:
    return _CPU if is_cuda(device) else device


def _on_the_cpu(original: Callable[..., Any], say_so: Callable[[], None]) -> Callable[..., Any]:
    @functools.wraps(original)
    def make(*positional: Any, **named: Any) -> Any:
        asked = is_cuda(named.get("device"))
        named.pop("pin_memory", None)
        if named.get("map_location") is not None:
            named["map_location"] = "cpu"
        if asked:
            say_so()
            named["device"] = _CPU
        elif original.__name__ == "set_default_device" and positional:
            positional = (_translated(positional[0]),)
        made = original(*positional, **named)
        if asked:
            _hold(made)
        return made

    return make


def _on_the_cpu_class(original: Any) -> Any:
    class Meta(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, original)

    class Generator(metaclass=Meta):
        """`torch.Generator`, on the CPU for any requested device."""

        def __new__(cls, device: Any = "cpu") -> Any:
            return original(device=_translated(device))

    return Generator


def _replace_moves(say_so: Callable[[], None]) -> None:
    tensor: Any = torch.Tensor
    to, cpu = tensor.to, tensor.cpu

    @functools.wraps(to)
    def moved(self: Any, *positional: Any, **named: Any) -> Any:
        asked = positional[0] if positional else named.get("device")
        if isinstance(asked, torch.Tensor):  # to(other): only its dtype matters here
            return to(self, *positional, **named)
        if not is_cuda(asked):
            result = to(self, *positional, **named)
            leaves = result is self and str(asked) == "cpu" and _is_held(self)
            return result.clone() if leaves else result
        say_so()
        if positional:
            positional = (_CPU, *positional[1:])
        else:
            named["device"] = _CPU
        result = to(self, *positional, **named)
        return _hold(result.clone() if result is self and not _is_held(self) else result)

    def to_cuda(self: Any, device: Any = None, non_blocking: bool = False, **_: Any) -> Any:
        say_so()
        return _hold(self if _is_held(self) else self.clone())

    @functools.wraps(cpu)
    def to_host(self: Any, *positional: Any, **named: Any) -> Any:
        result = cpu(self, *positional, **named)
        return result.clone() if _is_held(self) else result

    tensor.to, tensor.cuda, tensor.cpu = moved, to_cuda, to_host
    tensor.pin_memory = lambda self, device=None: self
    tensor.is_pinned = lambda self, device=None: False
    tensor.get_device = lambda self: 0
    tensor.record_stream = lambda self, stream: None


def _replace_answers() -> None:
    tensor: Any = torch.Tensor
    base: Any = torch._C.TensorBase
    there = torch.device("cuda", 0)
    device = base.device.__get__
    tensor.device = property(lambda self: there if self.is_cpu else device(self))
    tensor.is_cuda = property(lambda self: self.is_cpu)


def _hold(value: Any) -> Any:
    """Note that a tensor is on "cuda", so that moving it there again copies nothing."""
    if isinstance(value, torch.Tensor) and value.is_cpu and value.layout == torch.strided:
        storage = value.untyped_storage()
        before = _held.pop(storage.data_ptr(), None)
        if before is not None:
            storages: Any = torch.UntypedStorage
            storages._free_weak_ref(before)
        _held[storage.data_ptr()] = storage._weak_ref()
    return value


def _is_held(value: torch.Tensor) -> bool:
    if value.layout != torch.strided:
        return False
    weak = _held.get(value.untyped_storage().data_ptr())
    return weak is not None and not torch.UntypedStorage._expired(weak)
