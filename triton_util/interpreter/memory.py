"""Loads and stores: checked before they touch memory, then performed tile by tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl

from triton_util.interpreter.access import Plan, Tile, make_plan
from triton_util.interpreter.messages.reports import Reporter
from triton_util.interpreter.operations import provenance
from triton_util.interpreter.operations.blocks import (
    Block,
    Pointer,
    conjunction,
    merged,
    total,
)
from triton_util.interpreter.operations.formats import (
    Array,
    carrier_dtype,
    decode,
    encode,
    holds_poison,
    poison_value,
)
from triton_util.interpreter.regions import Region
from triton_util.interpreter.state import Batch
from triton_util.interpreter.watchers.happens_before import Ordering

KINDS = {"tl.load": "load", "tl.store": "store", "tl.atomic": "atomic"}


class Memory:
    """The memory operations of one launch."""

    def __init__(self, batch: Batch, reporter: Reporter, watchers: list[Any]) -> None:
        self.batch = batch
        self.reporter = reporter
        self.watchers = watchers

    def load(self, pointer: Pointer, mask: Block | None, other: Block | None) -> Block:
        """`tl.load`: masked-off lanes get `other`, or poison if there is none."""
        dtype = pointer.get_element_ty()
        factors = self.active_factors(pointer, mask)
        if pointer.region is None:
            return self._load_mixed(pointer, factors, other, dtype)
        shape = self._load_shape(pointer, factors, other)
        plan = make_plan(pointer.sum_terms(), factors, shape)
        if self.batch.pointing is not None:
            self.batch.pointing.add("load", pointer, factors, self.batch)
        self.check("tl.load", pointer, factors, plan)
        for watcher in self.watchers:
            watcher.loaded(pointer.region, plan, pointer)
        values = self._read(pointer.region, plan, dtype, other)
        for rounds in self.batch.rounds:
            rounds.saw(pointer.region, pointer.bounds()[0], values)
        return Block(values, dtype.scalar, pointer.shape)

    def atomic(
        self, region: Region, offsets: Array, programs: Array, pointer: Pointer, ordering: Ordering
    ) -> list[Callable[[], None]]:
        """Report an atomic operation to the watchers; returns a function to call when the kernel
        uses the result.
        """
        calls = [w.atomic(region, offsets, programs, pointer, ordering) for w in self.watchers]
        return [call for call in calls if call is not None]

    def store(self, pointer: Pointer, value: Block, mask: Block | None) -> None:
        """`tl.store`: writes nothing unless every active lane is allowed."""
        factors = self.active_factors(pointer, mask)
        if pointer.region is None:
            for choice, extra in self.by_region("tl.store", pointer, factors):
                self._store_region(choice, value, merged(factors, [extra], np.logical_and))
            return
        self._store_region(pointer, value, factors)

    def _store_region(self, pointer: Pointer, value: Block, factors: tuple[Array, ...]) -> None:
        region = pointer.region
        assert region is not None
        shape = (self.batch.programs, *pointer.shape)
        self.batch.budget(shape)
        plan = make_plan(pointer.sum_terms(), factors, shape)
        if self.batch.pointing is not None:
            self.batch.pointing.add("store", pointer, factors, self.batch)
        self.check("tl.store", pointer, factors, plan)
        self.look_for_poison(value, factors)
        if "undefined" in value.attr:
            self._look_for_undefined(value, factors)
        if self.batch.aims is not None:
            self.batch.aims.add(region, pointer, factors, self.batch)
        raw = np.broadcast_to(encode(value.data, pointer.get_element_ty()), shape)
        parts = [(piece, raw[piece.where]) for piece in plan.pieces]
        self.batch.version += 1
        for watcher in self.watchers:
            watcher.storing(region, plan, parts)
        for piece, values in parts:
            self.batch.remember(region.flat, piece)
            piece.write(region.flat, values)
        for watcher in self.watchers:
            watcher.stored(region, plan, parts)

    def active_factors(self, pointer: Block, mask: Block | None) -> tuple[Array, ...]:
        """The mask of an access, and the programs that control flow has left active."""
        self.batch.shown = mask
        factors: tuple[Array, ...] = () if mask is None else mask.mask_factors()
        if self.batch.active is not None:
            alive = self.batch.active.reshape((-1,) + (1,) * len(pointer.shape))
            factors = merged(factors, [alive], np.logical_and)
        return factors

    def check(
        self,
        operation: str,
        pointer: Pointer,
        factors: tuple[Array, ...],
        plan: Plan | None = None,
    ) -> None:
        """Raise a KernelFault if an active lane is outside the elements of the argument.

        plan: of the same access, if there is one; it allows a quick check of the common case.
        """
        region = pointer.region
        assert region is not None
        if pointer.overflowed is not None:
            self._check_overflow(operation, pointer, factors)
        if not self.batch.options.check_memory:
            return
        low, high = pointer.bounds()
        if region.dense and low >= 0 and high < region.extent:
            return
        if region.dense and plan is not None and plan.within(region.extent):
            return
        chosen = self._suspects(pointer, region)
        if not chosen.size:
            return
        offsets, active = self._lanes_of(pointer, factors, chosen)
        outside = active & ~region.contains(offsets)
        if outside.any():
            self._complain(operation, region, offsets, active, outside, chosen)

    def _complain(
        self,
        operation: str,
        region: Region,
        offsets: Array,
        active: Array,
        outside: Array,
        chosen: Array,
    ) -> None:
        beyond = outside & ((offsets < 0) | (offsets >= region.extent))
        if beyond.any():
            first = chosen[np.unravel_index(int(beyond.argmax()), beyond.shape)[0]]
            code = f"out-of-bounds-{KINDS[operation]}"
            lanes = (int(outside.sum()), int(active.sum()))
            at = self.batch.program_id(int(first))
            raise self.reporter.memory(code, operation, region, offsets[outside], lanes, at)
        first = chosen[np.unravel_index(int(outside.argmax()), outside.shape)[0]]
        at = self.batch.program_id(int(first))
        lanes = (int(outside.sum()), int(active.sum()))
        code = "gap-read" if operation == "tl.load" else "gap-store"
        fault = self.reporter.memory(code, operation, region, offsets[outside], lanes, at)
        if code == "gap-store":
            raise fault
        self.reporter.note(fault.fault)

    def _suspects(self, pointer: Pointer, region: Region) -> Array:
        """Programs of the batch whose offsets are not obviously inside."""
        terms = pointer.sum_terms()
        programs = max(term.shape[0] for term in terms)
        if programs == 1 or not region.dense:
            return np.arange(self.batch.programs if programs > 1 else 1)
        low = np.zeros(programs, np.int64)
        high = np.zeros(programs, np.int64)
        for term in terms:
            flat = term.reshape(term.shape[0], -1)
            low += flat.min(axis=1)
            high += flat.max(axis=1)
        return np.flatnonzero((low < 0) | (high >= region.extent))

    def _lanes_of(
        self, pointer: Pointer, factors: tuple[Array, ...], chosen: Array
    ) -> tuple[Array, Array]:
        shared = all(term.shape[0] == 1 for term in pointer.sum_terms())
        terms = [term if term.shape[0] == 1 else term[chosen] for term in pointer.sum_terms()]
        if shared and factors:
            # All programs use the same addresses, so one active program is enough.
            on: Any = conjunction(factors).any(axis=0, keepdims=True)
        else:
            masks = [f if f.shape[0] == 1 else f[chosen] for f in factors]
            on = conjunction(masks) if masks else np.True_
        shape = (len(chosen), *pointer.shape)
        self.batch.budget(shape)
        offsets = np.broadcast_to(total(terms), shape)
        active = np.broadcast_to(on, shape)
        return offsets, active

    def _check_overflow(self, operation: str, pointer: Pointer, factors: tuple[Array, ...]) -> None:
        assert pointer.overflowed is not None
        wrapped = pointer.overflowed
        used = wrapped & conjunction(factors) if factors else wrapped
        if used.any():
            index = int(np.unravel_index(int(used.argmax()), used.shape)[0])
            region = pointer.region
            name = region.name if region is not None else ""
            raise self.reporter.overflow(operation, name, self.batch.program_id(index))

    def _load_shape(
        self, pointer: Pointer, factors: tuple[Array, ...], other: Block | None
    ) -> tuple[int, ...]:
        programs = max(
            [term.shape[0] for term in pointer.sum_terms()]
            + [factor.shape[0] for factor in factors]
            + ([part.shape[0] for part in other.parts()] if other is not None else [])
        )
        shape = (programs, *pointer.shape)
        self.batch.budget(shape)
        return shape

    def _read(self, region: Region, plan: Plan, dtype: tl.dtype, other: Block | None) -> Array:
        flat = region.flat if region.dtype.scalar == dtype.scalar else region.viewed_as(dtype).flat
        if plan.whole:
            return decode(plan.pieces[0].read(flat), dtype)
        if other is not None:
            values = np.array(np.broadcast_to(other.data, plan.shape), carrier_dtype(dtype))
        else:
            values = np.full(plan.shape, self._missing(dtype), carrier_dtype(dtype))
        for piece in plan.pieces:
            found = decode(piece.read(flat), dtype)
            if isinstance(piece, Tile):
                values[piece.where] = found
            else:
                values[piece.where] = np.where(piece.active, found, values[piece.where])
        return values

    def _missing(self, dtype: tl.dtype) -> Any:
        if not self.batch.options.poison_masked:
            return carrier_dtype(dtype).type(0)
        self.batch.poisoned = True
        return poison_value(dtype)

    def look_for_poison(self, value: Block, factors: tuple[Array, ...]) -> None:
        """Note a fault if an active lane was computed from lanes that were never loaded."""
        if not self.batch.poisoned or value.data.dtype.kind != "f":
            return
        missing = np.isnan(value.data)
        if not missing.any():
            return
        marked = holds_poison(value.data) & (conjunction(factors) if factors else np.True_)
        if marked.any():
            index = int(np.unravel_index(int(marked.argmax()), marked.shape)[0])
            self.reporter.poison(self.batch.program_id(index))

    def _look_for_undefined(self, value: Block, factors: tuple[Array, ...]) -> None:
        """Note a fault if an active lane stores a number that its integer dtype cannot hold."""
        lanes, numbers = value.attr["undefined"]
        used = lanes & conjunction(factors) if factors else lanes
        if used.any():
            at = np.unravel_index(int(used.argmax()), used.shape)
            number = float(np.broadcast_to(numbers, used.shape)[at])
            program = self.batch.program_id(int(at[0]))
            self.reporter.undefined_conversion(str(value.dtype.scalar), number, program)

    def _load_mixed(
        self,
        pointer: Pointer,
        factors: tuple[Array, ...],
        other: Block | None,
        dtype: tl.dtype,
    ) -> Block:
        shape = (self.batch.programs, *pointer.shape)
        if other is not None:
            values = np.array(np.broadcast_to(other.data, shape), carrier_dtype(dtype))
        else:
            values = np.full(shape, self._missing(dtype), carrier_dtype(dtype))
        for choice, extra in self.by_region("tl.load", pointer, factors):
            mask = Block(None, tl.int1, pointer.shape, factors=(*factors, extra))
            found = self.load(choice, mask, Block(values, dtype.scalar, pointer.shape))
            values = np.array(np.broadcast_to(found.data, shape))
        return Block(values, dtype.scalar, pointer.shape)

    def by_region(
        self, operation: str, pointer: Pointer, factors: tuple[Array, ...]
    ) -> list[tuple[Pointer, Array]]:
        """Split pointers by their argument; a pointer into no argument is a fault."""
        pointer = self.resolve(operation, pointer, factors)
        assert pointer.owners is not None
        used = np.unique(pointer.owners)
        result = []
        for number in used[used >= 0]:
            region = pointer.choices[int(number)]
            single = Pointer(region, pointer.sum_terms(), pointer.dtype, pointer.shape)
            single.attr["mixed"] = True
            result.append((single, pointer.owners == number))
        return result

    def resolve(self, operation: str, pointer: Pointer, factors: tuple[Array, ...]) -> Pointer:
        """Look up the argument of pointers that were made from integers, by address."""
        if pointer.owners is not None:
            return pointer
        found, owners = provenance.resolved(pointer, self.batch)
        lost = (owners < 0) & (conjunction(factors) if factors else np.True_)
        if lost.any():
            index = int(np.unravel_index(int(lost.argmax()), lost.shape)[0])
            raise self.reporter.stray(operation, self.batch.program_id(index), int(lost.sum()))
        return found
