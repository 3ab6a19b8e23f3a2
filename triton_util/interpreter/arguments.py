"""Launch arguments: how they enter a kernel, and what a launch record keeps of them."""

from __future__ import annotations

import dataclasses
import enum
import inspect
from typing import Any

import numpy as np
import numpy.ma  # numpy imports it lazily, but a jailed process can no longer import
import torch
import triton.language as tl
from triton.runtime import interpreter as stock
from triton.runtime.jit import TensorWrapper, _normalize_ty, mangle_type
from triton.tools.tensor_descriptor import TensorDescriptor

from triton_util.interpreter.operations.blocks import Block, Pointer, scalar
from triton_util.interpreter.operations.formats import is_carried, round_to
from triton_util.interpreter.regions import Region
from triton_util.interpreter.state import Batch

# The first call makes triton import more modules; do it now, because a jailed process cannot.
mangle_type(0)

# Keyword arguments of a launch that configure the compiler instead of the kernel.
LAUNCH_OPTIONS = frozenset(
    {
        "num_warps",
        "num_stages",
        "num_ctas",
        "maxnreg",
        "enable_fp_fusion",
        "launch_cooperative_grid",
        "launch_pdl",
        "debug",
        "sanitize_overflow",
        "warp_size",
        "waves_per_eu",
        "matrix_instr_nonkdim",
        "kpack",
        "ir_override",
        "ptx_options",
        "instrumentation_mode",
        "allow_fp8e4nv",
        "schedule_hint",
    }
)


CONSTANTS = (bool, int, float, complex, str, bytes, tl.dtype, torch.dtype, np.generic, enum.Enum)

# The names of an annotated scalar parameter, after triton has normalised them.
SCALAR_TYPES = frozenset(
    {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64"}
)


class Converter:
    """Turns arguments into blocks and pointers; tensors become regions of the batch."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._constants: set[str] = set()

    def convert_all(self, bound: dict[str, Any]) -> dict[str, Any]:
        """Convert every argument; those wrapped in `Constant` stay Python values."""
        return {
            name: only_constant(name, value.value)
            if isinstance(value, Constant)
            else self.convert(name, value)
            for name, value in bound.items()
        }

    def convert(self, name: str, value: Any) -> Any:
        """One argument as the kernel sees it."""
        if isinstance(value, Typed):
            return tl.tensor(rounded(value.value, value.dtype), value.dtype)
        if isinstance(value, bool):
            return tl.tensor(scalar(value, tl.int1), tl.int1)
        if isinstance(value, int):
            dtype = tl.str_to_ty(mangle_type(value), None)
            return tl.tensor(scalar(value, dtype), dtype)
        if isinstance(value, float):
            return tl.tensor(scalar(value, tl.float32), tl.float32)
        if hasattr(value, "data_ptr"):
            return self._pointer(name, value)
        if isinstance(value, tuple):
            parts = [
                part if _is_one(part) else self.convert(f"{name}[{i}]", part)
                for i, part in enumerate(value)
            ]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, TensorDescriptor):
            return self._descriptor(name, value)
        return only_constant(name, value)

    def _pointer(self, name: str, value: Any) -> Any:
        tensor = value.base if isinstance(value, TensorWrapper) else value
        dtype = tl.str_to_ty(mangle_type(value), None)
        region = Region(name, tensor.detach(), dtype.element_ty)
        self.batch.regions.append(region)
        zero = np.zeros(1, np.int64)
        return tl.tensor(Pointer(region, (zero,), dtype, ()), dtype)

    def _descriptor(self, name: str, value: TensorDescriptor) -> Any:
        strides = [self.convert(name, int(stride)) for stride in value.strides]
        strides[-1] = tl.constexpr(1)
        descriptor = stock.interpreter_semantic.make_tensor_descriptor(
            base=self._pointer(name, value.base),
            shape=[self.convert(name, int(size)) for size in value.shape],
            strides=strides,
            block_shape=[tl.constexpr(size) for size in value.block_shape],
            padding_option=value.padding,
        )
        descriptor.handle.round_f32_to_tf32 = getattr(value, "round_f32_to_tf32", False)
        return descriptor


def only_constant(name: str, value: Any, depth: int = 0) -> Any:
    """Return the value if a compiler could make it a constant; otherwise raise TypeError.

    A kernel sees constants as they are. With a tensor among them, torch could do the kernel's work.
    """
    if isinstance(value, tl.constexpr):
        only_constant(name, value.value, depth)
    elif isinstance(value, (tuple, list, set, frozenset)) and depth < 8:
        for part in value:
            only_constant(name, part, depth + 1)
    elif isinstance(value, dict) and depth < 8:
        only_constant(name, (*value, *value.values()), depth)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type) and depth < 8:
        fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
        only_constant(name, fields, depth + 1)
    elif not (value is None or isinstance(value, CONSTANTS) or callable(value)):
        raise TypeError(f"argument {name} holds a {type(value).__name__}, which is no constant")
    return value


class Constant:
    """A tl.constexpr argument: a Python value that the kernel sees as it is."""

    def __init__(self, value: Any) -> None:
        self.value = value.value if isinstance(value, tl.constexpr) else value


class One(Constant):
    """An integer argument that is 1: Triton compiles the kernel with that constant."""


class Typed:
    """A number whose parameter is annotated with its dtype, as in `stride: tl.int64`."""

    def __init__(self, value: int | float, dtype: Any) -> None:
        self.value = value
        self.dtype = dtype


def rounded(value: int | float, dtype: Any) -> Block:
    """A number as a parameter of this dtype receives it: a float16 parameter rounds to float16."""
    number = scalar(value, dtype)
    if is_carried(dtype):
        with np.errstate(over="ignore"):  # overflow gives infinity, as on a GPU
            return Block(round_to(number.data, dtype), dtype, ())
    return number


def entering(value: Any, annotation: Any, specialised: bool) -> Any:
    """The argument as the compiler takes it.

    An annotation overrides the number's size. Without one, an integer that is 1 is a constant,
    unless the kernel was made with `do_not_specialize` for it.
    """
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return value
    if annotation is not inspect.Parameter.empty:
        name = _normalize_ty(annotation)
        if name != "constexpr" and name in SCALAR_TYPES:
            return Typed(value, tl.str_to_ty(name, None))
    return One(value) if specialised and _is_one(value) else value


def _is_one(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value == 1


def facts(bound: dict[str, Any]) -> list[dict[str, Any]]:
    """What a launch record keeps of each argument: enough to compile the kernel for a GPU."""
    return [{"name": name, **_fact(value)} for name, value in bound.items()]


def _fact(value: Any) -> dict[str, Any]:
    if isinstance(value, One):
        value = value.value
    if isinstance(value, Constant):
        return {"kind": "constexpr", "value": value.value}
    if isinstance(value, Typed):
        return {"kind": "scalar", "dtype": _normalize_ty(value.dtype), "value": value.value}
    if hasattr(value, "data_ptr"):
        tensor = value.base if isinstance(value, TensorWrapper) else value
        return {
            "kind": "tensor",
            "dtype": mangle_type(value),
            "shape": tuple(tensor.shape),
            "strides": tuple(tensor.stride()),
            "aligned_16": tensor.data_ptr() % 16 == 0,
        }
    if isinstance(value, TensorDescriptor):
        return {
            "kind": "descriptor",
            "dtype": mangle_type(value.base),
            "shape": tuple(value.shape),
            "strides": tuple(value.strides),
            "block_shape": tuple(value.block_shape),
        }
    if isinstance(value, (bool, int, float)):
        return {"kind": "scalar", "dtype": mangle_type(value), "value": value}
    return {"kind": "other", "value": repr(value)}


def on_host(value: Any, moved: dict[int, tuple[torch.Tensor, torch.Tensor]]) -> Any:
    """A tensor on a GPU as one on the CPU with the same strides; `moved` records both."""
    if isinstance(value, torch.Tensor) and not value.is_cpu:
        storage = value.untyped_storage()
        key = storage.data_ptr()
        if key not in moved:
            whole = torch.empty(0, dtype=torch.uint8, device=value.device).set_(storage)
            moved[key] = (whole, whole.cpu())
        host = torch.empty(0, dtype=value.dtype)
        host.set_(
            moved[key][1].untyped_storage(), value.storage_offset(), value.shape, value.stride()
        )
        return host
    if isinstance(value, TensorWrapper):
        return TensorWrapper(on_host(value.base, moved), value.dtype)
    return value
