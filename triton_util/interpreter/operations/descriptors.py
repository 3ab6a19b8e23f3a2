"""Tensor descriptors and block pointers: boxes of memory with their own bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import triton.language as tl

from triton_util.interpreter.operations.arithmetic import add
from triton_util.interpreter.operations.blocks import Block, Pointer, merged, scalar
from triton_util.interpreter.operations.formats import Array


class Box:
    """The handle of a tensor descriptor or block pointer.

    base: scalar pointer.  shape, strides, offsets: scalar blocks, one per axis.
    block_shape: the shape of what is loaded or stored.  padding: "zero", "nan" or None.
    """

    def __init__(
        self,
        base: Pointer,
        shape: Sequence[Block],
        strides: Sequence[Block],
        block_shape: Sequence[int],
        padding: str | None = "zero",
        offsets: Sequence[Block] = (),
    ) -> None:
        self.base = base
        self.shape = list(shape)
        self.strides = list(strides)
        self.block_shape = tuple(int(size) for size in block_shape)
        self.padding = padding
        self.offsets = list(offsets)
        self.round_f32_to_tf32 = False

    def advanced(self, steps: Sequence[Block]) -> Box:
        """The block pointer moved by `steps` elements along each axis."""
        if len(steps) != len(self.offsets):
            raise ValueError("len(ptr.offsets) != len(offsets)")
        moved = [
            add(_as_int64(offset), _as_int64(step))
            for offset, step in zip(self.offsets, steps, strict=True)
        ]
        return Box(self.base, self.shape, self.strides, self.block_shape, self.padding, moved)

    def lanes(
        self, offsets: Sequence[Block], checked: Sequence[int] | None = None
    ) -> tuple[Pointer, Block]:
        """Pointers of the box at `offsets` and the mask of lanes inside the checked axes."""
        rank = len(self.block_shape)
        steps: tuple[Array, ...] = ()
        factors: tuple[Array, ...] = ()
        for axis, size in enumerate(self.block_shape):
            line = np.arange(size, dtype=np.int64)
            place = _axis_line(line, axis, rank)
            start = _lifted(_value(offsets[axis]), rank)
            stride = _lifted(_value(self.strides[axis]), rank)
            steps += (start * stride, place * stride)
            if checked is None or axis in checked:
                length = _lifted(_value(self.shape[axis]), rank)
                inside = (place >= -start) & (place < length - start)
                factors = merged(factors, (inside,), np.logical_and)
        mask = Block(None, tl.int1, self.block_shape, factors=factors) if factors else None
        pointer = _moved(self.base, steps, self.block_shape)
        return pointer, mask if mask is not None else _everything(self.block_shape)

    def other(self) -> Block | None:
        """The value of lanes outside the box."""
        element = self.base.get_element_ty()
        if self.padding is None:
            return None
        value = float("nan") if self.padding == "nan" else 0
        return Block(
            scalar(value, element).data.reshape((1,) * (len(self.block_shape) + 1)),
            element.scalar,
            self.block_shape,
        )

    def validate(self, active: Array | None) -> None:
        """Check the rules of the hardware: 16-byte aligned base and strides, unit last stride.

        active: the programs that make the descriptor, None for all; the others have no values.
        """

        def broken(wrong: Array) -> bool:
            return bool((wrong if active is None else wrong & active).any())

        if broken(self.base.data % 16 != 0):
            raise ValueError("a tensor descriptor's base must be 16-byte aligned")
        for stride in self.strides[:-1]:
            if broken(_value(stride) * self.base.item_bytes % 16 != 0):
                raise ValueError("a tensor descriptor's strides must be multiples of 16 bytes")
        if broken(_value(self.strides[-1]) != 1):
            raise ValueError("a tensor descriptor's last dimension must be contiguous")


def rows_of(box: Box, rows: Block, column: Block) -> tuple[Pointer, Block]:
    """Pointers and mask for a gather or scatter of whole rows."""
    width = box.block_shape[-1]
    shape = (rows.shape[0], width)
    row = _value(rows)[..., None]
    line = np.arange(width, dtype=np.int64).reshape(1, 1, width)
    start = _lifted(_value(column), 2)
    row_stride = _lifted(_value(box.strides[0]), 2)
    column_stride = _lifted(_value(box.strides[1]), 2)
    steps = (row * row_stride, start * column_stride, line * column_stride)
    inside_rows = (row >= 0) & (row < _lifted(_value(box.shape[0]), 2))
    inside_columns = (line >= -start) & (line < _lifted(_value(box.shape[1]), 2) - start)
    factors = merged((inside_rows,), (inside_columns,), np.logical_and)
    pointer = _moved(box.base, steps, shape)
    return pointer, Block(None, tl.int1, shape, factors=factors)


def _moved(base: Pointer, steps: Sequence[Array], shape: tuple[int, ...]) -> Pointer:
    """Pointers at these steps, in elements, from a scalar pointer."""
    rank = len(shape)
    terms = tuple(_lifted(term, rank) for term in base.sum_terms())
    scale = base.item_bytes if base.is_absolute else 1
    for step in steps:
        terms = merged(terms, (step * scale,), np.add)
    owners = None if base.owners is None else _lifted(base.owners, rank)
    return Pointer(base.region, terms, base.dtype.scalar, shape, owners, base.choices)


def _everything(shape: tuple[int, ...]) -> Block:
    yes = np.ones((1,) * (len(shape) + 1), bool)
    return Block(None, tl.int1, shape, factors=(yes,))


def _value(block: Any) -> Array:
    if isinstance(block, int):
        return np.array([block], np.int64)
    return np.asarray(block.data).astype(np.int64)


def _as_int64(block: Block) -> Block:
    return Block(None, tl.int64, block.shape, terms=(_value(block),))


def _lifted(part: Array, rank: int) -> Array:
    return part.reshape((part.shape[0], *(1,) * rank))


def _axis_line(line: Array, axis: int, rank: int) -> Array:
    shape = [1] * (rank + 1)
    shape[axis + 1] = line.size
    return line.reshape(shape)
