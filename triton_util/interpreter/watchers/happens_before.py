"""Which accesses are ordered before accesses of other programs, through atomics.

An atomic that *releases* publishes what its program did before.  One that *acquires*, and whose
result the program uses, takes over what was published at that address until then.  A program that
ignores the result has not waited, so it learns nothing.  This is the happens-before relation of
the memory models of C++ and PTX, implemented with vector clocks.

An *epoch* of a program is the number of its releases so far.  `(program, epoch)` comes before what
program q does now if q knows of more than `epoch` releases of it.  Clocks are computed only on
request, because most kernels with atomics never need them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from triton_util.interpreter.operations.formats import Array

# Above this many numbers in clocks, the order is not computed.
MOST_WORK = 1 << 28


@dataclass(frozen=True)
class Ordering:
    """The memory ordering of an atomic operation.

    replaces: it stores without reading, so that earlier releases here are lost.
    writes: False for an atomic load.
    reads: False if the result does not depend on what was there, as for an exchange.
    """

    acquires: bool = True
    releases: bool = True
    replaces: bool = False
    writes: bool = True
    reads: bool = True

    @staticmethod
    def named(semantics: str) -> Ordering:
        """From "acq_rel", "acquire", "release" or "relaxed", in any spelling of Triton's."""
        name = semantics.lower()
        both = "acquire_release" in name or "acq_rel" in name
        return Ordering(both or "acquire" in name, both or "release" in name)

    def within(self, scope: str) -> Ordering:
        """The ordering among all programs of the launch: an atomic of scope "cta" orders none."""
        return replace(self, acquires=False, releases=False) if "cta" in scope.lower() else self


@dataclass(frozen=True)
class _Event:
    """Lanes of one atomic operation: the cells, programs and epochs."""

    keys: list[tuple[int, int]]
    programs: list[int]
    epochs: list[int]
    ordering: Ordering


class HappensBefore:
    """The atomics of one launch, in the order in which they took place here."""

    def __init__(self, programs: int) -> None:
        self.programs = programs
        self.clock: Array = np.zeros(programs, np.int32)
        self.acted: Array = np.zeros(programs, bool)
        self._events: list[_Event | int] = []
        self._forget()

    def _forget(self) -> None:
        self._done = 0
        self._work = 0
        self._known: dict[int, Array] = {}
        self._released: dict[tuple[int, int], Array] = {}
        self._writers: dict[tuple[int, int], dict[int, int]] = {}
        self._offered: dict[int, dict[int, Array]] = {}

    def mark(self) -> tuple[int, Array, Array]:
        """The current position, for `rewind`."""
        return len(self._events), self.clock, self.acted.copy()

    def rewind(self, mark: tuple[int, Array, Array]) -> None:
        """Forget the atomics since a mark, because they were undone."""
        length, self.clock, self.acted = mark
        del self._events[length:]
        if self._done > length:
            self._forget()

    def atomic(self, place: int, indices: Array, programs: Array, ordering: Ordering) -> int:
        """Note one atomic operation; returns its number, for `seen`."""
        keys = [(place, index) for index in indices.tolist()]
        event = _Event(keys, programs.tolist(), self.clock[programs].tolist(), ordering)
        self._events.append(event)
        self.acted[programs] = True
        if ordering.releases:
            self.clock = self.clock.copy()  # because recorded loads refer to the old clocks
            self.clock[programs] += 1  # once for each program, whatever its number of lanes
        return len(self._events) - 1

    def seen(self, event: int) -> None:
        """Note that the programs use the result of this atomic operation."""
        if event < len(self._events):
            self._events.append(event)

    def before(self, programs: Array, epochs: Array, now: Array) -> Array:
        """Whether each access (program, epoch) is ordered before what program `now` does now."""
        if not self._worked_out():
            fallback: Array = (programs == now) | self.acted[now]
            return fallback
        result: Array = programs == now
        for program in np.unique(now).tolist():
            known = self._known.get(program)
            if known is not None:
                mine = now == program
                result[mine] |= epochs[mine] < known[programs[mine]]
        return result

    def atomics_before(self, place: int, indices: Array, now: Array) -> Array:
        """Whether all atomics of others at these cells come before what `now` does now."""
        if not self._worked_out():
            acted: Array = self.acted[now]
            return acted
        result = np.ones(len(indices), bool)
        for lane, (index, program) in enumerate(zip(indices.tolist(), now.tolist(), strict=True)):
            known = self._known.get(program)
            for other, epoch in self._writers.get((place, index), {}).items():
                if other != program and (known is None or epoch >= known[other]):
                    result[lane] = False
        return result

    def _worked_out(self) -> bool:
        """Bring the clocks up to date; False if that is too much work."""
        if self._work > MOST_WORK:
            return False
        for number in range(self._done, len(self._events)):
            event = self._events[number]
            if isinstance(event, int):
                self._learn(event)
                continue
            self._work += len(event.keys) * self.programs
            if self._work > MOST_WORK:
                return False
            self._apply(number, event)
        self._done = len(self._events)
        return True

    def _apply(self, number: int, event: _Event) -> None:
        offered = self._offered.setdefault(number, {})
        for key, program, epoch in zip(event.keys, event.programs, event.epochs, strict=True):
            if event.ordering.writes:
                self._writers.setdefault(key, {})[program] = epoch
            row = self._released.get(key)
            if event.ordering.acquires and row is not None:
                so_far = offered.get(program)
                offered[program] = row.copy() if so_far is None else np.maximum(row, so_far)
            if row is None or event.ordering.replaces:
                row = self._released[key] = np.zeros(self.programs, np.int32)
            if event.ordering.releases:
                known = self._known.get(program)
                if known is not None:
                    np.maximum(row, known, out=row)
                row[program] = max(int(row[program]), epoch + 1)

    def _learn(self, event: int) -> None:
        for program, row in self._offered.get(event, {}).items():
            known = self._known.get(program)
            self._known[program] = row.copy() if known is None else np.maximum(known, row)
