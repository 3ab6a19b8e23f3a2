"""Changing the shape of blocks without changing their values."""

from __future__ import annotations

import numpy as np
import triton.language as tl

from triton_util.interpreter.operations.blocks import Block, Shape
from triton_util.interpreter.operations.formats import Array


def splat(block: Block, shape: Shape) -> Block:
    """A scalar broadcast to a block, without a copy."""
    ones = (1,) * len(shape)
    parts = [part.reshape((part.shape[0], *ones)) for part in block.parts()]
    return block.reshaped(parts, shape)


def unsplat(block: Block) -> Block:
    """The single element of a block as a scalar."""
    return block.reshaped([part.reshape(part.shape[0]) for part in block.parts()], ())


def expand(block: Block, axis: int) -> Block:
    """A new axis of length 1."""
    place = axis if axis >= 0 else axis + len(block.shape) + 1
    shape = (*block.shape[:place], 1, *block.shape[place:])
    return block.reshaped([np.expand_dims(part, place + 1) for part in block.parts()], shape)


def broadcast(block: Block, shape: Shape) -> Block:
    """The block with axes of length 1 stretched, without a copy."""
    if len(shape) != len(block.shape):
        np.broadcast_shapes(block.shape, shape)
        ones = (1,) * (len(shape) - len(block.shape))
        parts = [part.reshape((part.shape[0], *ones, *part.shape[1:])) for part in block.parts()]
        return block.reshaped(parts, shape)
    return block.reshaped(block.parts(), shape)


def permute(block: Block, order: list[int]) -> Block:
    """The axes in another order."""
    axes = [0] + [axis + 1 for axis in order]
    shape = tuple(block.shape[axis] for axis in order)
    return block.reshaped([part.transpose(axes) for part in block.parts()], shape)


def reshape(block: Block, shape: Shape) -> Block:
    """The elements in row-major order under a new shape."""
    parts = [_reshape_part(part, block.shape, shape) for part in block.parts()]
    return block.reshaped(parts, shape)


def _reshape_part(part: Array, before: Shape, after: Shape) -> Array:
    programs = part.shape[0]
    if part.size == programs:
        return part.reshape((programs, *(1,) * len(after)))
    if [n for n in before if n != 1] == [n for n in after if n != 1]:
        lengths = iter([size for size, n in zip(part.shape[1:], before, strict=True) if n != 1])
        return part.reshape((programs, *(1 if n == 1 else next(lengths) for n in after)))
    return np.broadcast_to(part, (programs, *before)).reshape((programs, *after))


def aligned(*blocks: Block) -> list[Array]:
    """The full values of blocks, with a common length of the program axis."""
    programs = max(block.data.shape[0] for block in blocks)
    return [block.full(programs) for block in blocks]


def join(left: Block, right: Block) -> Block:
    """Two blocks side by side along a new last axis."""
    values = np.stack(aligned(left, right), axis=-1)
    return Block(values, left.dtype.scalar, (*left.shape, 2))


def split(block: Block) -> tuple[Block, Block]:
    """The two halves of a last axis of length 2."""
    values, shape = block.full(block.data.shape[0]), block.shape[:-1]
    dtype = block.dtype.scalar
    return Block(values[..., 0], dtype, shape), Block(values[..., 1], dtype, shape)


def concatenate(left: Block, right: Block) -> Block:
    """Two blocks one after the other along the first axis."""
    values = np.concatenate(aligned(left, right), axis=1)
    return Block(values, left.dtype.scalar, values.shape[1:])


def gather(source: Block, index: Block, axis: int) -> Block:
    """`source` taken at `index` along one axis; inactive programs may use any index."""
    values, places = aligned(source, index)
    places = np.clip(places, 0, source.shape[axis] - 1)
    place = axis + 1 if axis >= 0 else axis
    return Block(np.take_along_axis(values, places, place), source.dtype.scalar, index.shape)


def histogram(block: Block, bins: int, mask: Block | None) -> Block:
    """How often each of 0 ... bins - 1 occurs, per program; other values are not counted."""
    values = block.full(block.data.shape[0])
    keep = (values >= 0) & (values < bins)
    if mask is not None:
        values, keep, on = np.broadcast_arrays(values, keep, mask.data)
        keep = keep & on
    programs = values.shape[0]
    rows = np.arange(programs).reshape((-1,) + (1,) * (values.ndim - 1))
    places = (rows * bins + values.astype(np.int64))[keep]
    counts = np.bincount(places, minlength=programs * bins).reshape(programs, bins)
    return Block(counts.astype(np.int32), tl.int32, (bins,))
