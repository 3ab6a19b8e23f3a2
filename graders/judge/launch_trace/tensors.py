"""Tensors that have no values: shape, strides, dtype and device, and no memory behind them.

A `ValuelessTensor` wraps a tensor of torch's meta device, whose storage shows which tensors are
views of the same memory. It claims to be on a GPU. Values that Python itself wrote
(`torch.tensor([1, 2])`) are known, and what torch makes of those alone is really computed: they
cannot include a value of an argument.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._C import _disabled_torch_function_impl
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from graders.judge.launch_trace.recording import NeedsValue, Recorder

GPU = torch.device("cuda", 0)
_HOST = torch.device("cpu")
_ADDRESS = 1 << 40  # between the first bytes of two storages, in the pretended addresses


class ValuelessTensor(torch.Tensor):
    """A tensor without memory. `meta` has its layout, `known` its values if Python made them.

    `on_host`: torch has made it in the memory of the CPU, although the launcher sees a GPU.
    """

    on_host = False
    meta: torch.Tensor
    known: torch.Tensor | None
    recorder: Recorder

    @staticmethod
    def __new__(
        cls, meta: torch.Tensor, recorder: Recorder, known: torch.Tensor | None = None
    ) -> ValuelessTensor:
        """Wrap a tensor of the meta device."""
        with torch._C.DisableTorchFunction():  # hides our own queries from the active modes
            made: ValuelessTensor = torch.Tensor._make_wrapper_subclass(
                cls,
                meta.size(),
                strides=meta.stride(),
                storage_offset=meta.storage_offset(),
                dtype=meta.dtype,
                layout=meta.layout,
                device=_HOST,
                requires_grad=False,
            )
            recorder.made(made.untyped_storage(), meta)
        made.meta, made.known, made.recorder = meta, known, recorder
        return made

    __torch_function__: Any = _disabled_torch_function_impl  # the mode below answers

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Fail; reached only if nothing records, for example in a thread of the submission."""
        raise NeedsValue(str(func))


class Pretend(TorchFunctionMode):
    """Answers Python queries to torch as if tensors were on a GPU, without readable values."""

    def __init__(self, recorder: Recorder, on_gpu: bool = True) -> None:
        super().__init__()
        self.recorder = recorder
        self.on_gpu = on_gpu
        self.answers = _ANSWERS if on_gpu else {**_ANSWERS, **_ANSWERS_OF_CPU}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer for a tensor without values; otherwise let torch do it on the host."""
        named = dict(kwargs or {})
        tensor = args[0] if args and isinstance(args[0], ValuelessTensor) else None
        if tensor is not None:
            answer = self.answers.get(func)
            if answer is not None:
                return answer(self.recorder, tensor)
            if func in _READING:
                return self.recorder.reads(getattr(func, "__name__", "item"), tensor)
            if func == _TENSOR.data.__set__ and isinstance(args[1], ValuelessTensor):
                tensor.meta, tensor.known = args[1].meta, args[1].known
        if func in _CHECKS:
            return self._check(func, args)
        if tensor is not None and func is _TENSOR.to:
            tensor.on_host = False  # there may be one object for both
        device = named.get("device")
        args = _on_host(func, args)
        if "device" in named:
            named["device"] = _host_device(named["device"])
        made = func(*args, **named)
        if func in _MAKING and isinstance(made, ValuelessTensor):
            made.on_host = self.on_gpu and str(device) in ("None", "cpu")
        return made

    def _check(self, func: Any, args: Any) -> Any:
        """Let a check of values pass. There are no values, so its answer reveals nothing."""
        self.recorder.tell("checks-values", getattr(func, "__name__", "a check"))
        answer, is_tensor = _CHECKS[func]
        if not is_tensor:
            return answer
        shape = args[0].shape if isinstance(args[0], torch.Tensor) else ()
        with _disable_current_modes():
            values = torch.full((1,) * len(shape), answer).expand(shape)
            meta = values.to("meta")
        self.recorder.constant(meta, values)
        return ValuelessTensor(meta, self.recorder, values)


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Receives every operation of torch, including those that make tensors."""

    def __init__(self, recorder: Recorder, operations: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.recorder, self.operations = recorder, operations

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: nothing is compiled, and the default would import torch's compiler."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Record the operation, and return a tensor without values as its result."""
        return self.operations.perform(func, args, kwargs or {})


def _address(recorder: Recorder, tensor: ValuelessTensor) -> int:
    """An address with the alignment of the real one."""
    number = recorder.storage_of(tensor.meta)
    return (number + 1) * _ADDRESS + int(tensor.storage_offset()) * tensor.element_size()


def _moved(tensor: ValuelessTensor) -> ValuelessTensor:
    tensor.on_host = False
    return tensor


def _text(recorder: Recorder, tensor: ValuelessTensor) -> str:
    return f"tensor(..., device='cuda:0', size={tuple(tensor.shape)}, dtype={tensor.dtype})"


def _host_device(device: Any) -> Any:
    """The host, if a GPU is requested; the launcher still sees the GPU."""
    if isinstance(device, int):
        return _HOST
    if device is not None and str(device).startswith("cuda"):
        return _HOST
    return device


def _on_host(func: Any, args: Any) -> Any:
    """The arguments with positional devices, as in `x.to("cuda")`, replaced by the host."""
    if getattr(func, "__name__", "") in ("to", "cuda"):
        placed = [_host_device(a) if _is_device(a) else a for a in args[1:]]
        return (*args[:1], *placed)
    return args


def _is_device(value: Any) -> bool:
    names_gpu = isinstance(value, str) and value.startswith("cuda")
    return isinstance(value, torch.device) or names_gpu or type(value) is int


_TENSOR: Any = torch.Tensor
_ANSWERS: dict[Any, Any] = {
    _TENSOR.device.__get__: lambda recorder, tensor: GPU,
    _TENSOR.is_cuda.__get__: lambda recorder, tensor: True,
    _TENSOR.is_cpu.__get__: lambda recorder, tensor: False,
    _TENSOR.is_meta.__get__: lambda recorder, tensor: False,
    _TENSOR.get_device: lambda recorder, tensor: 0,
    _TENSOR.cuda: lambda recorder, tensor: _moved(tensor),
    _TENSOR.data_ptr: _address,
    _TENSOR.__repr__: _text,
    _TENSOR.__str__: _text,
    _TENSOR.__format__: _text,
    _TENSOR.__hash__: lambda recorder, tensor: id(tensor),
}
_ANSWERS_OF_CPU: dict[Any, Any] = {
    _TENSOR.device.__get__: lambda recorder, tensor: _HOST,
    _TENSOR.is_cuda.__get__: lambda recorder, tensor: False,
    _TENSOR.is_cpu.__get__: lambda recorder, tensor: True,
    _TENSOR.get_device: lambda recorder, tensor: -1,
}
# Without a device they use the memory of the CPU.
_MAKING = frozenset({torch.empty, torch.empty_strided, torch.zeros, torch.ones, torch.full})
_READING = frozenset({_TENSOR.numpy, _TENSOR.tolist, _TENSOR.__array__, _TENSOR.__contains__})
# The answer of each check when all is well, and whether it is a tensor.
_CHECKS: dict[Any, tuple[bool, bool]] = {
    **dict.fromkeys((torch.isnan, _TENSOR.isnan, torch.isinf, _TENSOR.isinf), (False, True)),
    **dict.fromkeys((torch.isfinite, _TENSOR.isfinite), (True, True)),
    **dict.fromkeys((torch.equal, _TENSOR.equal, torch.allclose, _TENSOR.allclose), (True, False)),
}
