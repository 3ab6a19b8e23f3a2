"""Regions: the memory that a pointer argument may touch."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import torch
import triton.language as tl

from triton_util.interpreter.operations.formats import Array, raw_dtype

# Views with up to this many elements get a membership table of one byte per element.
TABLE_ELEMENTS = 1 << 26


class Region:
    """The elements of one tensor argument, relative to the address that the kernel is given.

    extent: elements from the first to one past the last element of the view, gaps included.
    offsets are in elements of the region's dtype; valid ones are in [0, extent).
    """

    def __init__(self, name: str, tensor: torch.Tensor, dtype: tl.dtype) -> None:
        self.name = name
        self.tensor = tensor
        self.dtype = dtype
        self.shape = tuple(tensor.shape)
        self.strides = tuple(tensor.stride())
        self.elements = tensor.numel()
        self.address = tensor.data_ptr()
        self.item_bytes = tensor.element_size()
        spans = ((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True))
        self.extent = 1 + sum(spans) if self.elements else 0
        self.storage = tensor.untyped_storage().data_ptr() if self.elements else 0
        self.flat = _flat_view(self.address, self.extent, raw_dtype(dtype))
        self._axes = _merged_axes(self.shape, self.strides)
        self.dense = self.elements == 0 or self._axes in ([], [(self.extent, 1)])
        self.nested = _is_nested(self._axes)
        self._table: Array | None = None

    @property
    def compact(self) -> bool:
        """Whether a table over the extent is not much larger than the view itself."""
        return self.extent <= 4 * self.elements + (1 << 20)

    def viewed_as(self, dtype: tl.dtype) -> Region:
        """The same memory through a pointer to another element type (bytes for elements)."""
        other = Region.__new__(Region)
        other.__dict__.update(self.__dict__)
        other.dtype = dtype
        other.item_bytes = np.dtype(raw_dtype(dtype)).itemsize
        other.extent = self.extent * self.item_bytes // other.item_bytes
        other.flat = _flat_view(self.address, other.extent, raw_dtype(dtype))
        if not self.dense:
            ratio = self.item_bytes / other.item_bytes
            other._axes = [] if ratio < 1 else _rescaled(self._axes, int(ratio))
            other.nested = _is_nested(other._axes)
            other._table = None
        return other

    def contains(self, offsets: Array) -> Array:
        """Which offsets are elements of the view (int64 in, bool out); false past the extent."""
        inside = (offsets >= 0) & (offsets < self.extent)
        if self.dense:
            return inside
        safe = np.where(inside, offsets, 0)
        if self.nested:
            return inside & self._nested_member(safe)
        if self.extent <= TABLE_ELEMENTS:
            return inside & self._membership()[safe]
        return inside

    def _nested_member(self, offsets: Array) -> Array:
        left, member = offsets, np.ones(offsets.shape, bool)
        for size, stride in self._axes:
            member &= left // stride < size
            left = left % stride
        whole: Array = member & (left == 0)
        return whole

    def _membership(self) -> Array:
        if self._table is None:
            table = np.zeros(self.extent, bool)
            sizes = [size for size, _ in self._axes]
            strides = [stride for _, stride in self._axes]
            np.lib.stride_tricks.as_strided(table, sizes, strides)[...] = True
            self._table = table
        return self._table

    def slots(self, offsets: Array) -> Array:
        """A dense number for each valid offset: the offset itself, or its place in the view."""
        if self.compact or not self.nested:
            return offsets
        left, slot = offsets, np.zeros(offsets.shape, np.int64)
        for size, stride in self._axes:
            slot = slot * size + left // stride
            left = left % stride
        return slot

    def slot_count(self) -> int:
        """One more than the largest slot."""
        if self.compact or not self.nested:
            return self.extent
        count = 1
        for size, _ in self._axes:
            count *= size
        return count


def _flat_view(address: int, extent: int, dtype: np.dtype[Any]) -> Array:
    if extent == 0:
        return np.zeros(0, dtype)
    raw = (ctypes.c_char * (extent * dtype.itemsize)).from_address(address)
    flat: Array = np.frombuffer(raw, dtype, extent)  # type: ignore[call-overload]
    return flat


def _merged_axes(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[tuple[int, int]]:
    """(size, stride) pairs, largest stride first, with contiguous neighbours joined."""
    axes = [
        (size, stride)
        for size, stride in zip(shape, strides, strict=True)
        if size > 1 and stride != 0
    ]
    axes.sort(key=lambda axis: axis[1])
    merged: list[tuple[int, int]] = []
    for size, stride in axes:
        if merged and stride % merged[-1][1] == 0 and stride <= merged[-1][0] * merged[-1][1]:
            inner, step = merged[-1]
            merged[-1] = (inner + (size - 1) * (stride // step), step)
        else:
            merged.append((size, stride))
    return merged[::-1]


def _is_nested(axes: list[tuple[int, int]]) -> bool:
    """Whether each stride exceeds the reach of all smaller ones, so division finds the index."""
    reach = 0
    for size, stride in reversed(axes):
        if stride <= reach:
            return False
        reach += (size - 1) * stride
    return bool(axes)


def _rescaled(axes: list[tuple[int, int]], ratio: int) -> list[tuple[int, int]]:
    scaled = [(size, stride * ratio) for size, stride in axes]
    if scaled and scaled[-1][1] == ratio:
        scaled[-1] = (scaled[-1][0] * ratio, 1)
        return scaled
    return [*scaled, (ratio, 1)]
