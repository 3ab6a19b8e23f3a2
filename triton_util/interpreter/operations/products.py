"""Matrix products: `tl.dot`, and `tl.dot_scaled`, whose blocks have one scale each.

Scaled formats: OCP Microscaling Formats (MX) Specification 1.0, sections 5.3 and 5.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from triton_util.interpreter.operations.arithmetic import float_result
from triton_util.interpreter.operations.blocks import Block
from triton_util.interpreter.operations.formats import Array

if TYPE_CHECKING:
    from triton_util.interpreter.launch import Launching

# The values of the lower three bits of an e2m1 number; the fourth bit is the sign.
_E2M1 = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0], dtype=np.float32)
_E2M1_VALUES = np.concatenate([_E2M1, -_E2M1])
_NOT_A_NUMBER = 255  # among the scales; all others are powers of two
_BIAS = 127


def dot(
    launching: Launching,
    a: Block,
    b: Block,
    accumulator: Block,
    rounded: Callable[[Array], Array] | None,
) -> Block:
    """`tl.dot`: products of each program's matrices, accumulated in float32, int32 or float64."""
    left, right = a.full(a.data.shape[0]), b.full(b.data.shape[0])
    if rounded is not None and left.dtype == np.float32 and a.dtype.scalar.name == "fp32":
        left, right = rounded(left), rounded(right)
    return _accumulated(launching, left, right, accumulator)


def dot_scaled(
    launching: Launching,
    operands: tuple[Block, Block],
    scales: tuple[Block | None, Block | None],
    along_k: tuple[bool, bool],
    accumulator: Block,
) -> Block:
    """`tl.dot_scaled`: multiply each number by the power of two of its block, then `tl.dot`.

    operands: (m, k) and (k, n); a uint8 packs two e2m1 numbers, the first in the lower bits.
    scales: (m, k / size) and (n, k / size), or None. along_k: whether e2m1 are packed along k.
    """
    left, right = (block.full(block.data.shape[0]) for block in operands)
    if operands[0].dtype.scalar.name == "uint8":
        left = _unpacked(left, -1 if along_k[0] else -2)
    if operands[1].dtype.scalar.name == "uint8":
        right = _unpacked(right, -2 if along_k[1] else -1)
    if scales[0] is not None:
        left = left * _repeated(scales[0], left.shape[-1])
    if scales[1] is not None:
        right = right * np.swapaxes(_repeated(scales[1], right.shape[-2]), -1, -2)
    return _accumulated(launching, left, right, accumulator)


def _accumulated(launching: Launching, left: Array, right: Array, accumulator: Block) -> Block:
    product = _matrix_product(left, right)
    dtype = accumulator.dtype.scalar
    if dtype.is_int():
        values = product.astype(np.int64).astype(np.int32) + accumulator.data
    elif product.base is None and product.shape == accumulator.data.shape:
        values = np.add(product, accumulator.data, out=product)
    else:
        values = product + accumulator.data
    values = float_result(values, dtype) if dtype.is_floating() else values
    result = Block(values, dtype, values.shape[1:])
    launching.count("dot", result, 2 * left.shape[-1])
    return result


def _matrix_product(left: Array, right: Array) -> Array:
    """BLAS products; integers are computed in float64, which is exact for sums of this size."""
    if left.dtype.kind != "f":
        left, right = left.astype(np.float64), right.astype(np.float64)
    product: Array = np.matmul(left, right)
    return product


def _unpacked(packed: Array, axis: int) -> Array:
    """The e2m1 numbers in bytes, along an axis that becomes twice as long."""
    codes = np.stack([packed & np.uint8(15), packed >> np.uint8(4)], axis=-1)
    numbers = np.moveaxis(_E2M1_VALUES[codes], -1, axis)  # next to the axis that they extend
    shape = list(packed.shape)
    shape[axis] *= 2
    return numbers.reshape(shape)


def _repeated(scale: Block, length: int) -> Array:
    """Scales (rows, length / size), each repeated for its block; bytes are e8m0."""
    given = scale.full(scale.data.shape[0])
    values = given
    if scale.dtype.scalar.is_int():
        codes = given.view(np.uint8)
        values = np.ldexp(np.float32(1), codes.astype(np.int32) - _BIAS)
        values[codes == _NOT_A_NUMBER] = np.nan
    return np.repeat(values, length // values.shape[-1], axis=-1)
