"""Arithmetic on blocks: numpy's, with Triton's rounding, wrapping and comparisons."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import triton.language as tl

from triton_util.interpreter.operations.blocks import (
    INT32_MAX,
    INT32_MIN,
    Block,
    Pointer,
    bounds_of,
    joint_shape,
    merged,
    total,
)
from triton_util.interpreter.operations.formats import (
    Array,
    carrier_dtype,
    convert,
    decode,
    encode,
    holds_poison,
    is_carried,
    raw_dtype,
    round_to,
)

Ufunc = Any

# Addition and the like count as one operation per lane; these take more than one instruction.
SPECIAL = {"exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf", "tanh"}


def float_result(values: Array, dtype: tl.dtype) -> Array:
    """Round the result of an operation to its dtype if that is narrower than float32."""
    return round_to(values, dtype) if is_carried(dtype) else values


def elementwise(left: Block, right: Block, operation: Ufunc) -> Block:
    """A binary operation whose result has the dtype of its operands."""
    dtype = left.dtype.scalar
    values = operation(left.data, right.data)
    if dtype.is_floating():
        values = float_result(values, dtype)
    elif values.dtype != carrier_dtype(dtype):
        values = values.astype(carrier_dtype(dtype))
    return Block(values, dtype, joint_shape(left, right))


def add(left: Block, right: Block) -> Block:
    """Integer addition; exact sums stay factored."""
    if not left.is_summed():
        return _narrow(left, right, np.add)
    terms = merged(left.sum_terms(), right.sum_terms(), np.add)
    return Block(None, left.dtype.scalar, joint_shape(left, right), terms=terms)


def subtract(left: Block, right: Block) -> Block:
    """Integer subtraction; exact differences stay factored."""
    if not left.is_summed():
        return _narrow(left, right, np.subtract)
    negated = tuple(-term for term in right.sum_terms())
    terms = merged(left.sum_terms(), negated, np.add)
    return Block(None, left.dtype.scalar, joint_shape(left, right), terms=terms)


def multiply(left: Block, right: Block) -> Block:
    """Multiplication of integers; a factored sum times a thin array stays factored."""
    if not left.is_summed():
        return _narrow(left, right, np.multiply)
    shape = joint_shape(left, right)
    many, one = left.sum_terms(), right.sum_terms()
    if len(one) > 1:
        many, one = one, many
    if len(one) > 1:
        one = (total(one),)
    products = [term * one[0] for term in many]
    grown = sum(product.size for product in products)
    if len(products) > 1 and grown > 2 * max(
        1, math.prod(np.broadcast_shapes(*(p.shape for p in products)))
    ):
        products = [total(many) * one[0]]
    return Block(None, left.dtype.scalar, shape, terms=tuple(products))


def _narrow(left: Block, right: Block, operation: Ufunc) -> Block:
    if left.dtype.scalar.name != "int1":
        return elementwise(left, right, operation)
    same = np.bitwise_and if operation is np.multiply else np.bitwise_xor
    return Block(same(left.data, right.data), left.dtype.scalar, joint_shape(left, right))


def divide(left: Block, right: Block) -> Block:
    """Integer division that truncates towards zero, as C and the GPU do."""
    a, b = left.data, right.data
    quotient = np.floor_divide(a, b)
    if a.dtype.kind == "i" and (a.min() < 0 or b.min() < 0):
        inexact = quotient * b != a
        quotient = quotient + (inexact & ((a < 0) != (b < 0)))
    return Block(quotient.astype(a.dtype, copy=False), left.dtype.scalar, joint_shape(left, right))


def remainder(left: Block, right: Block) -> Block:
    """The remainder that matches `divide`: it has the sign of the dividend."""
    a, b = left.data, right.data
    negative = a.dtype.kind == "i" and (a.min() < 0 or b.min() < 0)
    values = np.fmod(a, b) if negative else np.remainder(a, b)
    return Block(values, left.dtype.scalar, joint_shape(left, right))


def compare(left: Block, right: Block, operation: Ufunc) -> Block:
    """A comparison; a factored sum and a thin array are compared without summing first."""
    shape = joint_shape(left, right)
    if left.is_summed() and not isinstance(left, Pointer) and not isinstance(right, Pointer):
        values = _compare_sums(left, right, operation)
        if values is not None:
            return Block(None, tl.int1, shape, factors=(values,))
    return Block(None, tl.int1, shape, factors=(operation(left.data, right.data),))


def _compare_sums(left: Block, right: Block, operation: Ufunc) -> Array | None:
    if left.terms is None or len(left.terms) < 2 or len(right.sum_terms()) > 1:
        return None
    if left.dtype.scalar.name == "int32":
        low, high = left.bounds()
        if low < INT32_MIN or high > INT32_MAX:
            return None
    *outer, inner = left.terms
    shifted = right.sum_terms()[0] - total(outer)
    if shifted.size >= np.broadcast(shifted, inner).size:
        return None
    result: Array = operation(inner, shifted)
    return result


def both(left: Block, right: Block) -> Block:
    """`&`; for masks, a conjunction of factors."""
    if left.dtype.scalar.name != "int1":
        return elementwise(left, right, np.bitwise_and)
    factors = merged(left.mask_factors(), right.mask_factors(), np.logical_and)
    return Block(None, tl.int1, joint_shape(left, right), factors=factors)


def shift_left(left: Block, right: Block) -> Block:
    """`<<`; shifts by the width or more give 0."""
    return Block(np.left_shift(left.data, right.data), left.dtype.scalar, joint_shape(left, right))


def shift_right(left: Block, right: Block, arithmetic: bool) -> Block:
    """`>>`, with or without copies of the sign."""
    data, by = left.data, right.data
    if not arithmetic and data.dtype.kind == "i":
        unsigned = np.dtype(f"u{data.dtype.itemsize}")
        values = np.right_shift(data.view(unsigned), by.astype(unsigned)).view(data.dtype)
    else:
        values = np.right_shift(data, by)
    return Block(values, left.dtype.scalar, joint_shape(left, right))


def high_product(left: Block, right: Block) -> Block:
    """The upper half of the product of two unsigned integers."""
    a, b = left.data, right.data
    bits = a.dtype.itemsize * 8
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    a, b = a.view(unsigned), b.view(unsigned)
    if bits < 64:
        wide = np.dtype(f"u{a.dtype.itemsize * 2}")
        values = ((a.astype(wide) * b.astype(wide)) >> wide.type(bits)).astype(unsigned)
    else:
        values = _high_product_64(a, b)
    return Block(values.view(left.data.dtype), left.dtype.scalar, joint_shape(left, right))


def _high_product_64(a: Array, b: Array) -> Array:
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_high, a_low, b_high, b_low = a >> half, a & low, b >> half, b & low
    middle = a_high * b_low + ((a_low * b_low) >> half)
    cross = (middle & low) + a_low * b_high
    result: Array = a_high * b_high + (middle >> half) + (cross >> half)
    return result


def cast(source: Block, target: tl.dtype) -> Block:
    """A conversion between number formats; integers stay factored if none wraps."""
    scalar = target.scalar
    if source.is_summed() and scalar.name in ("int32", "int64") and source.terms is not None:
        low, high = source.bounds()
        if low >= INT32_MIN and high <= INT32_MAX:
            return Block(None, scalar, source.shape, terms=source.terms)
    values = convert(source.data, source.dtype.scalar, scalar)
    return Block(values, scalar, source.shape)


def mark_undefined(source: Block, result: Block) -> None:
    """Note which lanes of a float have a value that the integer dtype cannot represent."""
    kind = carrier_dtype(result.dtype)
    if not source.dtype.scalar.is_floating() or kind.kind not in "iu":
        return
    info = np.iinfo(kind)
    values = source.data
    whole = np.trunc(values.astype(np.float64))
    held = (whole >= float(info.min)) & (whole < float(info.max) + 1)
    if not held.all():
        undefined = ~held & ~holds_poison(values)
        if undefined.any():
            result.set_attr("undefined", (undefined, values))


def reinterpret(source: Block, target: tl.dtype) -> Block:
    """The same bits as another dtype of the same width."""
    raw = encode(source.data, source.dtype.scalar)
    values = np.ascontiguousarray(raw).view(raw_dtype(target))
    return Block(decode(values, target.scalar), target.scalar, source.shape)


def choose(condition: Block, left: Block, right: Block) -> Block:
    """`tl.where` for numbers."""
    shape = joint_shape(condition, left, right)
    values = np.where(condition.data, left.data, right.data)
    return Block(values, right.dtype.scalar, shape)


def offset_pointer(pointer: Pointer, offset: Block) -> Pointer:
    """`pointer + offset`, in elements; records the lanes whose int32 offset wrapped."""
    terms = offset.sum_terms()
    overflowed = pointer.overflowed
    if offset.dtype.scalar.name == "int32":
        low, high = offset.bounds()
        if low < INT32_MIN or high > INT32_MAX:
            exact = total(terms)
            wrapped = (exact < INT32_MIN) | (exact > INT32_MAX)
            overflowed = wrapped if overflowed is None else overflowed | wrapped
            terms = (exact.astype(np.int32).astype(np.int64),)
    if pointer.is_absolute:
        terms = tuple(term * pointer.item_bytes for term in terms)
    return Pointer(
        pointer.region,
        merged(pointer.sum_terms(), terms, np.add),
        pointer.dtype,
        joint_shape(pointer, offset),
        pointer.owners,
        pointer.choices,
        overflowed,
    )


def choose_pointer(condition: Block, left: Pointer, right: Pointer) -> Pointer:
    """`tl.where` between pointers, perhaps into different arguments."""
    shape = joint_shape(condition, left, right)
    on = condition.data
    offsets = np.where(on, total(left.sum_terms()), total(right.sum_terms()))
    wrapped = None
    if left.overflowed is not None or right.overflowed is not None:
        nothing = np.False_
        wrapped = np.where(
            on,
            nothing if left.overflowed is None else left.overflowed,
            nothing if right.overflowed is None else right.overflowed,
        )
    if left.region is right.region and left.owners is None and right.owners is None:
        return Pointer(left.region, (offsets,), left.dtype, shape, overflowed=wrapped)
    choices = _regions_of(left) + _regions_of(right)
    owners = np.where(on, _owners_of(left, 0), _owners_of(right, len(_regions_of(left))))
    return Pointer(None, (offsets,), left.dtype, shape, owners, choices, wrapped)


def _regions_of(pointer: Pointer) -> tuple[Any, ...]:
    return pointer.choices if pointer.region is None else (pointer.region,)


def _owners_of(pointer: Pointer, first: int) -> Any:
    return first if pointer.owners is None else pointer.owners + first


def recast_pointer(pointer: Pointer, target: tl.dtype) -> Pointer:
    """The same addresses as pointers to another element type."""
    result = Pointer(
        None, pointer.sum_terms(), target, pointer.shape, pointer.owners, pointer.choices
    )
    before, after = pointer.item_bytes, result.item_bytes
    if pointer.is_absolute:
        return result
    element = result.get_element_ty()
    if pointer.region is not None:
        result.region = pointer.region.viewed_as(element)
    result.choices = tuple(region.viewed_as(element) for region in pointer.choices)
    if before >= after:
        result.terms = tuple(term * (before // after) for term in pointer.sum_terms())
    else:
        result.terms = (total(pointer.sum_terms()) * before // after,)
    return result


def fits(terms: tuple[Array, ...]) -> bool:
    """Whether the sum of the terms stays within int32."""
    low, high = bounds_of(terms)
    return low >= INT32_MIN and high <= INT32_MAX
