"""Functions of real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter as stock

from triton_util.interpreter.operations.arithmetic import float_result
from triton_util.interpreter.operations.blocks import Block, joint_shape, scalar
from triton_util.interpreter.operations.formats import (
    Array,
    convert,
    holds_poison,
    is_carried,
    round_to,
)

if TYPE_CHECKING:
    from triton_util.interpreter.launch import Launching


def constant(value: Any, dtype: tl.dtype) -> Block:
    """A constant of the source text, rounded to its dtype."""
    block = scalar(value, dtype)
    if is_carried(dtype):
        block.data = round_to(block.data, dtype)
    return block


def unary(launching: Launching, block: Block, operation: Any) -> Block:
    """Apply an elementwise function. Lanes that were never loaded keep their mark."""
    values = float_result(_marked_again(operation(block.data), block.data), block.dtype.scalar)
    result = Block(values, block.dtype.scalar, block.shape)
    name = getattr(operation, "__name__", "")
    launching.count("arithmetic" if name in ("absolute", "negative") else "special", result)
    return result


def _marked_again(values: Array, before: Array) -> Array:
    """The results with the marks of `before`; on some processors numpy's exp gives its own NaN."""
    if values.dtype != np.float32 or not np.isnan(values).any():
        return values
    lost = np.isnan(values) & holds_poison(before)
    return np.where(lost, before, values)


def erf(values: Array) -> Array:
    """The error function, to the precision of the dtype."""
    exact: Array = torch.special.erf(
        torch.from_numpy(np.require(values, requirements=("C", "W")))
    ).numpy()
    return exact


def rsqrt(values: Array) -> Array:
    """1 / sqrt(x)."""
    result: Array = values.dtype.type(1) / np.sqrt(values)
    return result


def clamp(block: Block, low: Block, high: Block, propagate_nan: bool) -> Block:
    """`tl.clamp`; without propagation a NaN becomes the lower bound."""
    larger, smaller = (np.maximum, np.minimum) if propagate_nan else (np.fmax, np.fmin)
    values = smaller(larger(block.data, low.data), high.data)
    return Block(values, block.dtype.scalar, joint_shape(block, low, high))


def convert_float(source: Block, target: tl.dtype, toward_zero: bool) -> Block:
    """Between floating-point formats, rounding to nearest even or towards zero."""
    values = convert(source.data, source.dtype.scalar, target, toward_zero)
    return Block(values, target.scalar, source.shape)


def fused_multiply_add(launching: Launching, x: Block, y: Block, z: Block) -> Block:
    """x * y + z, rounded once."""
    dtype = z.dtype.scalar
    if z.data.dtype == np.float64:
        values = _exact_fma(x.data, y.data, z.data)
    else:
        wide = np.multiply(x.data, y.data, dtype=np.float64)
        values = _rounded_once(wide, z.data)
    result = Block(float_result(values, dtype), dtype, joint_shape(x, y, z))
    launching.count("arithmetic", result, 2)
    return result


def _rounded_once(product: Array, addend: Array) -> Array:
    """The exact product plus a float32, rounded to odd in float64 and then to float32."""
    wide = addend.astype(np.float64)
    total = product + wide
    back = total - product
    error = (product - (total - back)) + (wide - back)
    bits = np.ascontiguousarray(total).view(np.int64)
    even = (bits & 1) == 0
    toward = np.where((error > 0) == (total > 0), 1, -1)
    nudged = np.where(np.isfinite(total) & (error != 0) & even, bits + toward, bits)
    return nudged.view(np.float64).astype(np.float32)


def _exact_fma(x: Array, y: Array, z: Array) -> Array:
    fma = getattr(stock._interpreter, "fma_fp64", None)
    if fma is None:
        return x * y + z
    arrays = [np.ascontiguousarray(part) for part in np.broadcast_arrays(x, y, z)]
    result: Array = fma(*arrays)
    return result
