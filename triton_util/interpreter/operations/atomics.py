"""Atomic operations for many programs at once, as if in the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl

from triton_util.interpreter.memory import Memory
from triton_util.interpreter.operations.blocks import Block, Pointer, Shape, merged
from triton_util.interpreter.operations.formats import (
    Array,
    carrier_dtype,
    decode,
    encode,
    is_carried,
)
from triton_util.interpreter.watchers.happens_before import Ordering

COMBINE: dict[str, Any] = {
    "ADD": np.add,
    "FADD": np.add,
    "MIN": np.minimum,
    "UMIN": np.minimum,
    "MAX": np.maximum,
    "UMAX": np.maximum,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
    "XCHG": None,
    "LOAD": lambda found, _: found,
}


def read_modify_write(
    memory: Memory,
    name: str,
    pointer: Pointer,
    value: Block,
    mask: Block | None,
    ordering: Ordering,
) -> Block:
    """`tl.atomic_add` and similar operations; returns what each lane found."""
    dtype = pointer.get_element_ty()
    shape = (memory.batch.programs, *pointer.shape)
    memory.batch.budget(shape)
    factors = memory.active_factors(pointer, mask)
    memory.look_for_poison(value, factors)
    found = np.zeros(shape, carrier_dtype(dtype))
    told: list[Callable[[], None]] = []
    values = np.broadcast_to(value.data, shape)
    for single, lanes in _targets(memory, pointer, factors):
        active = np.broadcast_to(lanes, shape)
        offsets = _offsets(single, shape)[active]
        programs = _programs(memory, shape)[active]
        region = single.region
        assert region is not None
        told += memory.atomic(region, offsets, programs, single, ordering)
        memory.batch.remember(region.flat, _Scattered(offsets))
        unsigned = name in ("UMIN", "UMAX")
        before = region.flat[offsets]
        found[active] = _update(region.flat, offsets, values[active], dtype, name, unsigned)
        _note(memory, region, offsets, before, found[active])
    return Answer(found, value.dtype.scalar, pointer.shape, told)


def compare_and_swap(
    memory: Memory, pointer: Pointer, expected: Block, value: Block, ordering: Ordering
) -> Block:
    """`tl.atomic_cas`, lane after lane; returns what each lane found."""
    dtype = pointer.get_element_ty()
    shape = (memory.batch.programs, *pointer.shape)
    factors = memory.active_factors(pointer, None)
    found = np.zeros(shape, carrier_dtype(dtype))
    told: list[Callable[[], None]] = []
    for single, lanes in _targets(memory, pointer, factors):
        active = np.broadcast_to(lanes, shape)
        offsets = _offsets(single, shape)[active]
        region = single.region
        assert region is not None
        programs = _programs(memory, shape)[active]
        told += memory.atomic(region, offsets, programs, single, ordering)
        memory.batch.remember(region.flat, _Scattered(offsets))
        wanted = encode(np.broadcast_to(expected.data, shape)[active], dtype)
        new = encode(np.broadcast_to(value.data, shape)[active], dtype)
        old, before = np.empty_like(new), region.flat[offsets]
        for lane, offset in enumerate(offsets):
            old[lane] = region.flat[offset]
            if old[lane] == wanted[lane]:
                region.flat[offset] = new[lane]
        found[active] = decode(old, dtype)
        _note(memory, region, offsets, before, old)
    return Answer(found, expected.dtype.scalar, pointer.shape, told)


def _note(memory: Memory, region: Any, offsets: Array, before: Array, found: Array) -> None:
    """Report to loops that may be waiting whether this changed memory, and what it found."""
    changed = not np.array_equal(before, region.flat[offsets])
    memory.batch.version += changed
    for rounds in memory.batch.rounds:
        rounds.asked(region, int(offsets[0]) if offsets.size else 0, found, changed)


class Answer(Block):
    """What an atomic operation found; it reports when the kernel uses it."""

    __slots__ = ("_found", "_told")

    def __init__(
        self, found: Array, dtype: tl.dtype, shape: Shape, told: list[Callable[[], None]]
    ) -> None:
        super().__init__(None, dtype, shape)
        self._found = found
        self._told = told

    def _materialise(self) -> Array:
        """The value; reading it counts as waiting for the operation."""
        for tell in self._told:
            tell()
        return self._found


class _Scattered:
    """Single offsets, with the same interface as the pieces in the undo log."""

    def __init__(self, offsets: Array) -> None:
        self.places = offsets
        self.lanes = offsets.size

    def read(self, flat: Array) -> Array:
        return flat[self.places]

    def write(self, flat: Array, values: Array) -> None:
        flat[self.places] = values


def _targets(
    memory: Memory, pointer: Pointer, factors: tuple[Array, ...]
) -> list[tuple[Pointer, Array]]:
    on: Array = np.ones((1,) * (len(pointer.shape) + 1), bool)
    for factor in factors:
        on = on & factor
    if pointer.region is not None:
        memory.check("tl.atomic", pointer, factors)
        return [(pointer, on)]
    targets = memory.by_region("tl.atomic", pointer, factors)
    for single, extra in targets:
        memory.check("tl.atomic", single, merged(factors, [extra], np.logical_and))
    return [(single, on & extra) for single, extra in targets]


def _offsets(pointer: Pointer, shape: tuple[int, ...]) -> Array:
    whole = pointer.sum_terms()[0]
    for term in pointer.sum_terms()[1:]:
        whole = whole + term
    return np.broadcast_to(whole, shape)


def _programs(memory: Memory, shape: tuple[int, ...]) -> Array:
    numbers = memory.batch.linear.reshape((-1,) + (1,) * (len(shape) - 1))
    return np.broadcast_to(numbers, shape)


def _update(
    flat: Array, offsets: Array, values: Array, dtype: tl.dtype, name: str, unsigned: bool
) -> Array:
    """Apply the lanes to memory in order and return what each of them found."""
    if offsets.size == 0:
        return np.zeros(0, carrier_dtype(dtype))
    order = np.argsort(offsets, kind="stable")
    places, counts = np.unique(offsets, return_counts=True)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    sorted_values = values[order].astype(carrier_dtype(dtype), copy=False)
    memory = decode(flat[places], dtype)
    if unsigned and memory.dtype.kind == "i":
        kind = np.dtype(f"u{memory.dtype.itemsize}")
        memory, sorted_values = memory.view(kind), sorted_values.view(kind)
    combine = COMBINE[name]
    if int(counts.max()) <= len(places) or not hasattr(combine, "accumulate") or is_carried(dtype):
        old, final = _in_rounds(memory, sorted_values, first, counts, combine, dtype)
    else:
        old, final = _by_place(memory, sorted_values, first, counts, combine)
    flat[places] = encode(final.view(carrier_dtype(dtype)), dtype)
    found = np.empty(offsets.shape, carrier_dtype(dtype))
    found[order] = old.view(carrier_dtype(dtype))
    return found


def _in_rounds(
    memory: Array, values: Array, first: Array, counts: Array, combine: Any, dtype: tl.dtype
) -> tuple[Array, Array]:
    """Round k applies the k-th lane of every place."""
    old, current = np.empty_like(values), memory.copy()
    for turn in range(int(counts.max())):
        busy = counts > turn
        lanes = first[busy] + turn
        old[lanes] = current[busy]
        new = values[lanes] if combine is None else combine(current[busy], values[lanes])
        current[busy] = decode(encode(new, dtype), dtype) if is_carried(dtype) else new
    return old, current


def _by_place(
    memory: Array, values: Array, first: Array, counts: Array, combine: Any
) -> tuple[Array, Array]:
    """One running total per place; `accumulate` adds one by one, as the rounds would."""
    old, final = np.empty_like(values), memory.copy()
    for place, (start, count) in enumerate(zip(first, counts, strict=True)):
        chain = np.concatenate([memory[place : place + 1], values[start : start + count]])
        # In the dtype of the memory, because numpy would sum short integers in 64 bits.
        run = combine.accumulate(chain, dtype=chain.dtype)
        old[start : start + count] = run[:-1]
        final[place] = run[-1]
    return old, final
