"""Blocks: the values of a kernel, for many programs at once.

The first axis of every array is the *program axis*: its length is 1 if all programs of the
batch agree, and P if they may differ.  The other axes are the block's own.  Any axis may have
length 1 if the block is constant along it, so `tl.zeros((128, 64))` is one number.

Integers and masks stay *factored* as long as that is exact: `rows[:, None] * stride +
columns[None, :]` is stored as a sum of two thin arrays, and a mask `(rows < m)[:, None] &
(columns < n)[None, :]` as a conjunction of two.  The bounds of an address then follow from thin
arrays, and whole tiles are copied instead of gathered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import triton.language as tl

from triton_util.interpreter.operations.formats import Array, carrier_dtype

if TYPE_CHECKING:
    from triton_util.interpreter.regions import Region

Shape = tuple[int, ...]
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
_SUMMED = ("int32", "int64")


class Block:
    """A scalar or block of one dtype; the `handle` behind a `tl.tensor`.

    shape: the block's own shape, without the program axis; () for a scalar.
    terms: for int32 and int64, int64 arrays whose sum is the exact value *before* wrapping.
    factors: for int1, boolean arrays whose conjunction is the value.
    """

    __slots__ = ("_bounds", "_data", "attr", "dtype", "factors", "shape", "terms")

    def __init__(
        self,
        data: Array | None,
        dtype: tl.dtype,
        shape: Shape,
        *,
        terms: tuple[Array, ...] | None = None,
        factors: tuple[Array, ...] | None = None,
    ) -> None:
        self._data = data
        self.dtype = dtype
        self.shape = shape
        self.terms = terms
        self.factors = factors
        self.attr: dict[str, Any] = {}
        self._bounds: tuple[int, int] | None = None

    @property
    def data(self) -> Array:
        """The value as one array of the carrier dtype, with the program axis in front."""
        if self._data is None:
            self._data = self._materialise()
        return self._data

    @data.setter
    def data(self, value: Array) -> None:
        self._data, self.terms, self.factors, self._bounds = value, None, None, None

    def _materialise(self) -> Array:
        if self.factors is not None:
            return conjunction(self.factors)
        assert self.terms is not None
        whole = total(self.terms)
        return whole.astype(np.int32) if self.dtype.scalar.name == "int32" else whole

    def is_summed(self) -> bool:
        """Whether the dtype is one of the integer dtypes that can be stored as a sum of terms."""
        return self.dtype.scalar.name in _SUMMED

    def sum_terms(self) -> tuple[Array, ...]:
        """The value as int64 terms; exact for int32 and int64, wrapped for the others."""
        if self.terms is None:
            self.terms = (self.data.astype(np.int64, copy=False),)
        return self.terms

    def mask_factors(self) -> tuple[Array, ...]:
        """A mask as boolean factors."""
        if self.factors is None:
            self.factors = (self.data,)
        return self.factors

    def bounds(self) -> tuple[int, int]:
        """Smallest and largest possible value of the sum of the terms, before wrapping."""
        if self._bounds is None:
            self._bounds = bounds_of(self.sum_terms())
        return self._bounds

    def get_element_ty(self) -> tl.dtype:
        """The scalar dtype; for a pointer, that of its element."""
        dtype = self.dtype
        while hasattr(dtype, "element_ty"):
            dtype = dtype.element_ty
        return dtype

    def set_attr(self, key: str, value: Any) -> None:
        """Ignore Triton's hints (`tl.multiple_of` and the like)."""
        self.attr[key] = value

    def clone(self) -> Block:
        """The same value; blocks are never changed in place."""
        return self

    def full(self, programs: int) -> Array:
        """The value with every axis at its full length, as a read-only view."""
        return np.broadcast_to(self.data, (programs, *self.shape))

    def reshaped(self, arrays: Sequence[Array], shape: Shape) -> Block:
        """A block of the same kind whose parts are `arrays`."""
        parts = tuple(arrays)
        if self.factors is not None:
            return Block(None, self.dtype, shape, factors=parts)
        if self.terms is not None:
            return Block(None, self.dtype, shape, terms=parts)
        return Block(parts[0], self.dtype, shape)

    def parts(self) -> tuple[Array, ...]:
        """The arrays that make up the value; a change of axes applies to each."""
        if self.factors is not None:
            return self.factors
        if self.terms is not None:
            return self.terms
        return (self.data,)


class Pointer(Block):
    """Pointers with their provenance: `terms` are element offsets from the region's address.

    owners: None, or region numbers per lane where `tl.where` mixed pointers of two arguments;
    `region` is then None and `choices` lists the regions.  A pointer made from an integer has
    neither: its terms are addresses in bytes, resolved when it is used.
    overflowed: None, or the lanes whose int32 offset passed 2**31 and wrapped.
    """

    __slots__ = ("choices", "overflowed", "owners", "region")

    def __init__(
        self,
        region: Region | None,
        terms: tuple[Array, ...],
        dtype: tl.dtype,
        shape: Shape,
        owners: Array | None = None,
        choices: tuple[Region, ...] = (),
        overflowed: Array | None = None,
    ) -> None:
        super().__init__(None, dtype, shape, terms=terms)
        self.region = region
        self.owners = owners
        self.choices = choices
        self.overflowed = overflowed

    @property
    def item_bytes(self) -> int:
        """Bytes from one element to the next."""
        return max(1, int(self.get_element_ty().primitive_bitwidth) // 8)

    def _materialise(self) -> Array:
        if self.is_absolute:
            return total(self.sum_terms()).astype(np.uint64)
        offsets = total(self.sum_terms()) * self.item_bytes
        if self.region is not None:
            return (offsets + self.region.address).astype(np.uint64)
        assert self.owners is not None
        bases = np.array([region.address for region in self.choices], np.int64)
        return (offsets + bases[self.owners]).astype(np.uint64)

    @property
    def is_absolute(self) -> bool:
        """Whether the pointer was made from an integer."""
        return self.region is None and self.owners is None

    def reshaped(self, arrays: Sequence[Array], shape: Shape) -> Pointer:
        parts = list(arrays)
        owners = parts.pop() if self.owners is not None else None
        wrapped = parts.pop() if self.overflowed is not None else None
        terms = tuple(parts)
        return Pointer(self.region, terms, self.dtype, shape, owners, self.choices, wrapped)

    def parts(self) -> tuple[Array, ...]:
        assert self.terms is not None
        extra = [array for array in (self.overflowed, self.owners) if array is not None]
        return (*self.terms, *extra)


def scalar(value: Any, dtype: tl.dtype) -> Block:
    """A value on which all programs agree."""
    return Block(np.array([value], carrier_dtype(dtype)), dtype, ())


def total(terms: Sequence[Array]) -> Array:
    """The sum of broadcastable terms as one array."""
    whole = terms[0]
    for term in terms[1:]:
        whole = whole + term
    return whole


def conjunction(factors: Sequence[Array]) -> Array:
    """The conjunction of broadcastable factors as one array."""
    whole = factors[0]
    for factor in factors[1:]:
        whole = whole & factor
    return whole


def bounds_of(terms: Sequence[Array]) -> tuple[int, int]:
    """Sum of the smallest and of the largest entries, as Python integers."""
    low = sum(int(term.min()) for term in terms)
    return low, sum(int(term.max()) for term in terms)


def merged(parts: Sequence[Array], extra: Sequence[Array], operation: Any) -> tuple[Array, ...]:
    """Join `parts` and `extra` by `operation` wherever that needs no larger array."""
    result = list(parts)
    for piece in extra:
        for index, part in enumerate(result):
            shape = np.broadcast_shapes(part.shape, piece.shape)
            if shape in (part.shape, piece.shape):
                result[index] = operation(part, piece)
                break
        else:
            result.append(piece)
    return tuple(result)


def joint_shape(*blocks: Block) -> Shape:
    """The shape of an elementwise result, without the program axis."""
    first = blocks[0].shape
    if all(block.shape == first for block in blocks[1:]):
        return first
    return np.broadcast_shapes(*(block.shape for block in blocks))
