"""Reductions and scans, for all programs of a batch at once.

Known combine functions use numpy's. Any other function reduces in a tree, as on a GPU, each step
combining neighbouring lanes; a scan applies it slice by slice along the axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as stock

from triton_util.interpreter.operations.blocks import Block
from triton_util.interpreter.operations.formats import (
    POISON,
    Array,
    carrier_dtype,
    holds_poison,
    is_carried,
    round_to,
)

Tensor = Any
Result = tuple[Array, Tensor, Any]


def make_tensor(values: Array, dtype: tl.dtype, shape: Sequence[int] | None = None) -> Tensor:
    """A tl.tensor over an array with the program axis in front."""
    size = list(values.shape[1:] if shape is None else shape)
    block = Block(values, dtype.scalar, tuple(size))
    return tl.tensor(block, tl.block_type(dtype.scalar, size) if size else dtype.scalar)


class BatchReduce(stock.ReduceOps):  # type: ignore[misc]
    """`tl.reduce` and everything built on it."""

    def apply_impl(self, input: Sequence[Tensor]) -> list[Tensor]:
        rank = len(input[0].shape)
        stock.interpreter_builder.launching.barrier()  # when compiled: through shared memory
        axis = self.axis if self.axis is None or self.axis >= 0 else self.axis + rank
        arrays, place = _along(input, axis)
        results = _reduce(self.combine_fn, input, arrays, place)
        _count(arrays[0].shape[place] - 1, results[0], input[0])
        return [
            make_tensor(self._kept(values, axis, rank), tensor.dtype)
            if dtype is None
            else make_tensor(self._kept(values, axis, rank), dtype)
            for values, tensor, dtype in results
        ]

    def _kept(self, values: Array, axis: int | None, rank: int) -> Array:
        if not self.keep_dims:
            return values
        if axis is None:
            return values.reshape(values.shape[0], *(1,) * rank)
        return np.expand_dims(values, axis + 1)


class BatchScan(stock.ScanOps):  # type: ignore[misc]
    """`tl.associative_scan` and everything built on it."""

    def apply_impl(self, input: Sequence[Tensor]) -> list[Tensor]:
        rank = len(input[0].shape)
        stock.interpreter_builder.launching.barrier()  # when compiled: through shared memory
        axis = self.axis if self.axis >= 0 else self.axis + rank
        arrays, place = _along(input, axis)
        if self.reverse:
            arrays = [np.flip(values, place) for values in arrays]
        results = _scan(self.combine_fn, input, arrays, place)
        if self.reverse:
            results = [np.flip(values, place) for values in results]
        return [
            make_tensor(np.ascontiguousarray(values), tensor.dtype)
            for values, tensor in zip(results, input, strict=True)
        ]


def _count(steps: int, result: Result, tensor: Tensor) -> None:
    """Count n - 1 operations for a reduction of n lanes."""
    block = Block(result[0], tensor.dtype.scalar, result[0].shape[1:])
    stock.interpreter_builder.launching.count("reduction", block, steps)


def _along(input: Sequence[Tensor], axis: int | None) -> tuple[list[Array], int]:
    """The full arrays, flattened for axis None, and the numpy axis to work along."""
    programs = max(tensor.handle.data.shape[0] for tensor in input)
    arrays = [tensor.handle.full(programs) for tensor in input]
    if axis is None:
        return [values.reshape(programs, -1) for values in arrays], 1
    return arrays, axis + 1


def _reduce(combine: Any, input: Sequence[Tensor], arrays: list[Array], axis: int) -> list[Result]:
    standard = tl.standard
    first, tensor = arrays[0], input[0]
    if combine is standard._sum_combine:
        return [(_sum(first, tensor.dtype, axis), tensor, None)]
    for name, ufunc in (("max", np.fmax), ("min", np.fmin)):
        if combine is getattr(standard, f"_elementwise_{name}"):
            return [(_extreme(first, axis, ufunc), tensor, None)]
        indexed = [
            getattr(standard, f"_arg{name}_combine_tie_break_{kind}", None)
            for kind in ("left", "fast")
        ]
        if combine in indexed and _is_plain_index(arrays[1], axis):
            return _extreme_with_index(first, arrays[1], tensor, input[1], axis, name)
    return _fold(combine, input, arrays, axis)


def _sum(values: Array, dtype: tl.dtype, axis: int) -> Array:
    """Sums; in 16 and 8 bits each partial sum is rounded, as in a GPU's tree of additions."""
    if is_carried(dtype):
        return _tree_sum(values, dtype, axis)
    whole: Array = np.sum(values, axis=axis)
    if dtype.scalar.name == "int1":
        return (whole & 1).astype(bool)
    return whole.astype(carrier_dtype(dtype), copy=False)


def _tree_sum(values: Array, dtype: tl.dtype, axis: int) -> Array:
    part = np.moveaxis(values, axis, -1)
    while part.shape[-1] > 1:
        half = part.shape[-1] // 2
        part = round_to(part[..., :half] + part[..., half : 2 * half], dtype)
    return part[..., 0]


def _extreme(values: Array, axis: int, ufunc: Any) -> Array:
    """Largest or smallest value; ignores ordinary NaNs, as a GPU does, but not unloaded lanes."""
    result: Array = ufunc.reduce(values, axis=axis)
    if values.dtype == np.float32:
        missing = np.isnan(values)
        if missing.any():
            marked = (missing & holds_poison(values)).any(axis=axis)
            result = np.where(marked, POISON, result)
    return result


def _is_plain_index(index: Array, axis: int) -> bool:
    line = np.arange(index.shape[axis]).reshape([-1 if a == axis else 1 for a in range(index.ndim)])
    return bool((index == line).all())


def _extreme_with_index(
    values: Array, index: Array, tensor: Tensor, positions: Tensor, axis: int, name: str
) -> list[Result]:
    """The first largest or smallest value and its index; NaNs are ignored."""
    worst: Any
    if values.dtype.kind == "f":
        worst = -np.inf if name == "max" else np.inf
        clean = np.where(np.isnan(values), values.dtype.type(worst), values)
    else:
        clean = values
    place = (np.argmax if name == "max" else np.argmin)(clean, axis=axis)
    best = np.take_along_axis(values, np.expand_dims(place, axis), axis).squeeze(axis)
    found = np.take_along_axis(index, np.expand_dims(place, axis), axis).squeeze(axis)
    return [(best, tensor, None), (found.astype(np.int32), positions, tl.int32)]


def _slice(arrays: Sequence[Array], input: Sequence[Tensor], axis: int, at: int) -> list[Tensor]:
    return [
        make_tensor(np.take(values, at, axis=axis), tensor.dtype)
        for values, tensor in zip(arrays, input, strict=True)
    ]


def _combined(combine: Callable[..., Any], left: list[Tensor], right: list[Tensor]) -> list[Tensor]:
    result = combine(*left, *right)
    parts = list(result) if isinstance(result, (tuple, tl.tuple)) else [result]
    semantic = stock.interpreter_semantic
    return [semantic.to_tensor(part) for part in parts]


def _fold(combine: Any, input: Sequence[Tensor], arrays: list[Array], axis: int) -> list[Result]:
    """Combine neighbours until one lane is left; `combine` only has to be associative."""
    types = [tensor.dtype for tensor in input]
    while (length := arrays[0].shape[axis]) > 1:
        left, right = _every_second(arrays, axis, 0), _every_second(arrays, axis, 1)
        shape = left[0].shape
        parts = _combined(combine, _tensors(left, types), _tensors(right, types))
        joined = [
            np.broadcast_to(part.handle.data, shape).astype(carrier_dtype(dtype), copy=False)
            for part, dtype in zip(parts, types, strict=True)
        ]
        arrays = [
            np.concatenate([values, np.take(rest, [-1], axis)], axis) if length % 2 else values
            for values, rest in zip(joined, arrays, strict=True)
        ]
    return [(arr.take(0, axis), tensor, None) for arr, tensor in zip(arrays, input, strict=True)]


def _every_second(arrays: Sequence[Array], axis: int, start: int) -> list[Array]:
    """The lanes start, start + 2, … that have a neighbour."""
    last = arrays[0].shape[axis] // 2 * 2
    index = (slice(None),) * axis + (slice(start, last, 2),)
    return [values[index] for values in arrays]


def _tensors(arrays: Sequence[Array], types: Sequence[tl.dtype]) -> list[Tensor]:
    return [make_tensor(values, dtype) for values, dtype in zip(arrays, types, strict=True)]


def _scan(combine: Any, input: Sequence[Tensor], arrays: list[Array], axis: int) -> list[Array]:
    standard = tl.standard
    dtype = input[0].dtype
    plain = not is_carried(dtype) and dtype.scalar.name != "int1"
    if combine is standard._sum_combine and plain:
        return [np.cumsum(arrays[0], axis=axis, dtype=carrier_dtype(dtype))]
    if combine is standard._prod_combine and plain:
        return [np.cumprod(arrays[0], axis=axis, dtype=carrier_dtype(dtype))]
    current = _slice(arrays, input, axis, 0)
    steps = [[part.handle.data for part in current]]
    for at in range(1, arrays[0].shape[axis]):
        current = _combined(combine, current, _slice(arrays, input, axis, at))
        steps.append([part.handle.data for part in current])
    shape = arrays[0].shape[:axis] + arrays[0].shape[axis + 1 :]
    return [
        np.stack([np.broadcast_to(step[number], shape) for step in steps], axis=axis)
        for number in range(len(arrays))
    ]
