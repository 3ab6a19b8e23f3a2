"""Number formats: the memory layout of each Triton dtype, and how its values are computed.

Values of float16, bfloat16 and the float8 formats are stored in float32 *carriers* and rounded
back to their format after every operation.  For +, -, *, / and sqrt this equals computing in the
format itself, because float32 has more than twice their precision; it is also what a GPU does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton.language as tl

Array = np.ndarray[Any, np.dtype[Any]]

# The bits of the NaN that marks lanes that were never loaded.  They survive conversion to
# bfloat16 or float16 and back.
POISON_BITS = np.uint32(0x7FD50000)
POISON = POISON_BITS.view(np.float32)

SURE_BITS = 18  # of a result that do not depend on the order in which numpy sums
CANCELLED_BITS = 20  # the same for a sum whose terms cancel: the size of its terms is unknown
HALVES_BITS = 7  # of bfloat16; float8 has fewer, so there neighbours are different results

_RAW = {
    "int1": np.bool_,
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "uint16": np.uint16,
    "int32": np.int32,
    "uint32": np.uint32,
    "int64": np.int64,
    "uint64": np.uint64,
    "fp16": np.float16,
    "fp32": np.float32,
    "fp64": np.float64,
    "bf16": np.uint16,
}
_FLOAT8 = {
    "fp8e5": "float8_e5m2",
    "fp8e4nv": "float8_e4m3fn",
    "fp8e5b16": "float8_e5m2fnuz",
    "fp8e4b8": "float8_e4m3fnuz",
}


def raw_dtype(dtype: tl.dtype) -> np.dtype[Any]:
    """The numpy dtype of `dtype` in memory."""
    name = dtype.scalar.name if not dtype.scalar.is_ptr() else "uint64"
    return np.dtype(_RAW.get(name, np.uint8))


def carrier_dtype(dtype: tl.dtype) -> np.dtype[Any]:
    """The numpy dtype in which values of `dtype` are computed."""
    if dtype.scalar.is_ptr():
        return np.dtype(np.uint64)
    if is_carried(dtype):
        return np.dtype(np.float32)
    return raw_dtype(dtype)


def is_carried(dtype: tl.dtype) -> bool:
    """Whether the format is computed in float32 and rounded back."""
    scalar = dtype.scalar
    return not scalar.is_ptr() and scalar.is_floating() and scalar.primitive_bitwidth < 32


def decode(raw: Array, dtype: tl.dtype) -> Array:
    """Convert memory representation to carrier."""
    name = dtype.scalar.name
    if name == "bf16":
        wide: Array = raw.astype(np.uint32)
        wide <<= np.uint32(16)
        return wide.view(np.float32)
    if name == "fp16":
        return raw.astype(np.float32)
    if is_carried(dtype):
        return np.take(_float8_values(name), raw)
    return raw


def encode(values: Array, dtype: tl.dtype) -> Array:
    """Convert carrier to memory representation, rounding to nearest even."""
    name = dtype.scalar.name
    if name == "bf16":
        return (round_to(values, dtype).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    if is_carried(dtype) and name != "fp16":
        return _float8_encode(values, name)
    return values.astype(raw_dtype(dtype), copy=False)


def round_to(values: Array, dtype: tl.dtype) -> Array:
    """float32 values rounded to the nearest value of `dtype`, ties to even, still float32."""
    name = dtype.scalar.name
    if name == "bf16":
        return _round_bits(np.ascontiguousarray(values, np.float32), 16)
    if name == "fp16":
        return values.astype(np.float16).astype(np.float32)
    return decode(encode(values, dtype), dtype)


def differs(left: Array, right: Array, dtype: tl.dtype) -> Array:
    """Which elements (in memory representation) differ by more than their rounding.

    They are compared bit by bit, so that equal NaNs are equal. The last bits of floating-point
    numbers may differ, because numpy sums a row in another order at another place of a tile. If
    the terms of a sum cancel, these are the last bits of the terms, so they are compared with the
    largest number stored beside it.
    """
    kind = np.dtype(f"u{left.dtype.itemsize}")
    same_kind = np.ascontiguousarray(right).astype(left.dtype, copy=False)
    left = np.ascontiguousarray(left)
    result: Array = left.view(kind) != same_kind.view(kind)
    scalar = dtype.scalar
    floating = not scalar.is_ptr() and scalar.is_floating()
    if floating and scalar.fp_mantissa_width >= HALVES_BITS and result.any():
        a, b = (decode(raw, dtype).astype(np.float64) for raw in (left[result], same_kind[result]))
        bits = min(scalar.fp_mantissa_width - 1, SURE_BITS)
        beside = np.abs(decode(same_kind, dtype).astype(np.float64))
        largest = beside[np.isfinite(beside)].max(initial=0.0)
        with np.errstate(invalid="ignore"):
            close = np.abs(a - b) <= np.maximum(np.abs(a), np.abs(b)) * 2.0**-bits
            close |= np.abs(a - b) <= largest * 2.0**-CANCELLED_BITS
        result[result] = ~close
    return result


def round_to_tf32(values: Array) -> Array:
    """float32 values rounded to the 10 mantissa bits of TF32, ties to even."""
    return _round_bits(np.ascontiguousarray(values, np.float32), 13)


def truncate_to_tf32(values: Array) -> Array:
    """float32 values as tensor cores read them for TF32, without the last 13 bits of the
    mantissa.
    """
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    kept: Array = bits.view(np.float32)
    return np.where(np.isnan(values), values, kept)


def convert(values: Array, source: tl.dtype, target: tl.dtype, toward_zero: bool = False) -> Array:
    """Convert carrier values from `source` to `target`, as a GPU's cvt does."""
    to = carrier_dtype(target)
    if source.scalar.is_floating() and target.scalar.is_int():
        return _float_to_int(values, target, to)
    if target.scalar.name == "int1":
        return np.not_equal(values, 0)
    if is_carried(target):
        wide = values.astype(np.float32, copy=False)
        if source.scalar == target.scalar:
            return wide
        if toward_zero:
            return _truncate(wide, target)
        return round_to(wide, target)
    return values.astype(to, copy=False)


def poison_value(dtype: tl.dtype) -> Any:
    """The value of an unloaded lane: a marked NaN, or an integer that no index should have."""
    scalar = dtype.scalar
    if scalar.is_ptr():
        return np.uint64(0xDEAD0000DEAD0000)
    if scalar.is_floating():
        return carrier_dtype(scalar).type(POISON)
    if scalar.name == "int1":
        return np.True_
    info = np.iinfo(carrier_dtype(scalar))
    return carrier_dtype(scalar).type(info.max - info.max // 3)


def holds_poison(values: Array) -> Array:
    """Which float32 values carry the mark of a lane that was never loaded."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    marked: Array = (bits & np.uint32(0x7FFF0000)) == POISON_BITS
    return marked


def _round_bits(values: Array, dropped: int) -> Array:
    bits = values.view(np.uint32)
    half = np.uint32((1 << (dropped - 1)) - 1)
    rounded: Array = bits >> np.uint32(dropped)
    rounded &= np.uint32(1)
    rounded += half
    rounded += bits
    rounded &= np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)
    result: Array = rounded.view(np.float32)
    special = np.isnan(values)
    if special.any():
        kept = (bits | np.uint32(0x00400000)) & np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)
        result = np.where(special, kept.view(np.float32), result)
    return result


def _truncate(values: Array, target: tl.dtype) -> Array:
    nearest = round_to(values, target)
    too_far = np.abs(nearest) > np.abs(values)
    if not too_far.any():
        return nearest
    raw = encode(nearest, target)
    unsigned: Array = raw.view(np.dtype(f"u{raw.dtype.itemsize}"))
    stepped: Array = np.where(too_far, unsigned - unsigned.dtype.type(1), unsigned)
    return decode(stepped.view(raw.dtype), target)


def _float_to_int(values: Array, target: tl.dtype, to: np.dtype[Any]) -> Array:
    """Convert like cvt.rzi: 32 bits or more saturate, NaN becomes 0; narrower ints then wrap."""
    if to == np.bool_:
        return np.not_equal(values, 0)
    wide = to if to.itemsize >= 4 else np.dtype(np.int32 if to.kind == "i" else np.uint32)
    info = np.iinfo(wide)
    whole = np.trunc(np.nan_to_num(values.astype(np.float64), nan=0.0))
    clipped = np.clip(whole, float(info.min), float(info.max))
    exact: Array = clipped.astype(wide)
    if wide.itemsize == 8:
        exact = np.where(whole >= float(info.max), wide.type(info.max), exact)
    return exact.astype(to)


@functools.cache
def _float8_values(name: str) -> Array:
    codes = torch.arange(256, dtype=torch.int16).to(torch.uint8)
    if name in _FLOAT8:
        exact: Array = codes.view(getattr(torch, _FLOAT8[name])).to(torch.float32).numpy()
        return exact
    return _stock_float8(codes.numpy(), tl.float8e4b15, tl.float32)


def _float8_encode(values: Array, name: str) -> Array:
    if name in _FLOAT8:
        kind = getattr(torch, _FLOAT8[name])
        largest = torch.finfo(kind).max
        carried = torch.from_numpy(np.require(values, np.float32, ("C", "W")))
        finite = carried.clamp(-largest, largest)
        return finite.to(kind).view(torch.uint8).numpy()
    return _stock_float8(np.ascontiguousarray(values, np.float32), tl.float32, tl.float8e4b15)


def _stock_float8(values: Array, source: tl.dtype, target: tl.dtype) -> Array:
    from triton.runtime import interpreter as stock

    rounding = stock._ir.ROUNDING_MODE.RTNE
    convert_float: Callable[..., Array] = stock._convert_float
    return convert_float(values, source, target, rounding).view(carrier_or_raw(target))


def carrier_or_raw(dtype: tl.dtype) -> np.dtype[Any]:
    """float32 for float32, else the memory dtype: the dtype after a bit conversion."""
    return np.dtype(np.float32) if dtype.name == "fp32" else raw_dtype(dtype)
