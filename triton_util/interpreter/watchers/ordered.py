"""Races in a launch with atomics: each access is compared with those that are unordered to it.

Before the first atomic of a launch, programs cannot wait for each other, so `shadow` compares all
accesses at once.  After it, each access is examined as it happens, with `happens_before`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from triton_util.interpreter.access import Lanes, Piece
from triton_util.interpreter.operations.formats import Array, differs
from triton_util.interpreter.watchers.happens_before import HappensBefore, Ordering

if TYPE_CHECKING:
    from triton_util.interpreter.messages.reports import Reporter
    from triton_util.interpreter.regions import Region
    from triton_util.interpreter.watchers.cells import Cells, Window

# A store is compared with at most this many earlier loads of the same memory.
MOST_READINGS = 4096


@dataclass
class Reading:
    """One load, kept until it is known whether its memory is stored to."""

    window: Window
    pieces: list[tuple[Piece, Array]]
    place: tuple[str, int, str]
    # For `ordered`: the readers of each piece (if shared, each reads every lane), and when.
    numbers: list[Array]
    shared: bool
    clock: Array | None


class Judge(Protocol):
    """What `ordered` needs from the watcher `Shadow`, which knows the launch."""

    base: int
    reporter: Reporter

    def settle(self, cells: Cells) -> None:
        """Write the postponed tags of earlier stores."""

    def readings_of(self, cells: Cells) -> list[Reading]:
        """The loads of this memory so far, in order."""

    def coordinates(self, number: int) -> tuple[int, int, int]:
        """(x, y, z) of a program by its number in the launch."""


@dataclass
class Marks:
    """For each cell: the last plain store's program and epoch, and whether atomics stored too."""

    plain: Array
    epochs: Array
    by_atomic: Array
    scratch: Array


class OrderedAccesses:
    """Compares the accesses of a launch after its first atomic operation."""

    def __init__(self, judge: Judge, programs: int) -> None:
        self.judge = judge
        self.order = HappensBefore(programs)
        self._marks: dict[int, tuple[Cells, Marks]] = {}

    def marks(self, cells: Cells) -> Marks:
        """The marks of these cells, made on first use and when the cells have grown."""
        known = self._marks.get(id(cells))
        if known is None or len(known[1].epochs) != len(cells.tags):
            count = len(cells.tags)
            epochs, scratch = np.zeros(count, np.int32), np.zeros(count, np.int32)
            made = Marks(cells.tags.copy(), epochs, np.zeros(count, bool), scratch)
            known = self._marks[id(cells)] = (cells, made)
        return known[1]

    # -- accesses --------------------------------------------------------------------------------

    def loaded(self, reading: Reading) -> None:
        """Compare a load with the last store and with every atomic that is unordered to it."""
        cells = reading.window.cells
        if not cells.stored_in_launch:
            return
        self.judge.settle(cells)
        for index, program, _ in self._lanes(reading):
            racing, writers = self._unordered_stores(cells, index, program)
            if racing.any():
                at = int(racing.argmax())
                self._report_read(reading, index, racing, int(writers[at]))

    def storing(
        self, region: Region, window: Window, piece: Piece, values: Array, numbers: Array
    ) -> None:
        """Compare a store with the stores and loads that are unordered to it."""
        index, program, chosen = self._flat(window, piece, values.shape, numbers)
        cells = window.cells
        racing, writers = self._unordered_stores(cells, index, program)
        if racing.any():
            changed = differs(piece.read(region.flat), values, region.dtype)
            plain = ~self.marks(cells).by_atomic[index]
            racing &= np.broadcast_to(changed, values.shape)[chosen] | ~plain
        if racing.any():
            self._report_write(window, index, racing, program, writers)
        self._compare_with_loads(window, index, program)

    def stored(self, window: Window, piece: Piece, shape: tuple[int, ...], numbers: Array) -> None:
        """Mark the cells with the epoch of the store."""
        index, program, _ = self._flat(window, piece, shape, numbers)
        marks = self.marks(window.cells)
        marks.plain[index] = program + self.judge.base
        marks.epochs[index] = self.order.clock[program]
        marks.by_atomic[index] = False

    def atomic(self, window: Window, offsets: Array, programs: Array, ordering: Ordering) -> int:
        """Compare an atomic operation with plain accesses; returns the number of the event."""
        cells, index = window.cells, window.at(offsets)
        marks = self.marks(cells)
        racing, writers = self._unordered_stores(cells, index, programs, with_atomics=False)
        if racing.any():
            self._report_write(window, index, racing, programs, writers)
        if not ordering.writes:
            return self.order.atomic(id(cells), index, programs, ordering)
        self._compare_with_loads(window, index, programs)
        marks.by_atomic[index] = True
        return self.order.atomic(id(cells), index, programs, ordering)

    # -- comparisons -----------------------------------------------------------------------------

    def _unordered_stores(
        self, cells: Cells, index: Array, program: Array, with_atomics: bool = True
    ) -> tuple[Array, Array]:
        """Lanes whose cell others have stored to without order, and the last of these programs."""
        marks, base = self.marks(cells), self.judge.base
        tags = marks.plain[index]
        writers = np.maximum(tags - base, 0)
        racing = (tags >= base) & (writers != program)
        lanes = np.flatnonzero(racing)
        if len(lanes):
            epochs = marks.epochs[index[lanes]]
            racing[lanes] = ~self.order.before(writers[lanes], epochs, program[lanes])
        lanes = np.flatnonzero(marks.by_atomic[index] & ~racing)
        if with_atomics and len(lanes):
            ordered = self.order.atomics_before(id(cells), index[lanes], program[lanes])
            racing[lanes] = ~ordered
            writers[lanes] = np.maximum(cells.tags[index[lanes]] - base, 0)
        return racing, writers

    def _compare_with_loads(self, window: Window, index: Array, program: Array) -> None:
        """Find earlier loads by other programs that are not ordered before this store."""
        cells = window.cells
        earlier = self.judge.readings_of(cells)[-MOST_READINGS:]
        if not earlier or not len(index):
            return
        scratch = self.marks(cells).scratch
        scratch[index] = program + 1
        for reading in earlier:
            for at, reader, epoch in self._lanes(reading):
                now = scratch[at] - 1
                lanes = np.flatnonzero((now >= 0) & (now != reader))
                if not len(lanes):
                    continue
                unordered = ~self.order.before(reader[lanes], epoch[lanes], now[lanes])
                if unordered.any():
                    racing = np.zeros(len(at), bool)
                    racing[lanes[unordered]] = True
                    self._report_read(reading, at, racing, int(now[int(racing.argmax())]))
                    scratch[index] = 0
                    return
        scratch[index] = 0

    def _flat(
        self, window: Window, piece: Piece, shape: tuple[int, ...], numbers: Array
    ) -> tuple[Array, Array, Array]:
        """(cell, program) of each active lane, and the indices of these lanes."""
        chosen = np.broadcast_to(active_of(piece, shape), shape)
        index = window.at(np.broadcast_to(offsets_of(piece), shape)[chosen])
        return index, np.broadcast_to(numbers, shape)[chosen], chosen

    def _lanes(self, reading: Reading) -> Iterator[tuple[Array, Array, Array]]:
        """(cell, program, epoch) of each lane of a load; shared lanes once for every program."""
        for (piece, _), numbers in zip(reading.pieces, reading.numbers, strict=True):
            offsets = offsets_of(piece)
            if reading.shared:
                first = np.zeros(1, np.int64)
                index, _, _ = self._flat(reading.window, piece, offsets.shape, first)
                program = np.tile(numbers, len(index))
                index = np.repeat(index, len(numbers))
            else:
                column = numbers.reshape((-1,) + (1,) * (offsets.ndim - 1))
                index, program, _ = self._flat(reading.window, piece, offsets.shape, column)
            epochs = reading.clock[program] if reading.clock is not None else np.zeros_like(program)
            yield index, program, epochs

    # -- reports ---------------------------------------------------------------------------------

    def _report_read(self, reading: Reading, index: Array, racing: Array, writer: int) -> None:
        first = int(index[int(racing.argmax())])
        offset = offset_in(reading.window, first)
        place: Any = reading.place
        self.judge.reporter.read_race(
            reading.window.region,
            offset,
            len(np.unique(index[racing])),
            self.judge.coordinates(writer),
            place,
        )

    def _report_write(
        self, window: Window, index: Array, racing: Array, program: Array, writers: Array
    ) -> None:
        at = int(racing.argmax())
        self.judge.reporter.write_race(
            window.region,
            offset_in(window, int(index[at])),
            len(np.unique(index[racing])),
            self.judge.coordinates(int(program[at])),
            self.judge.coordinates(int(writers[at])),
        )


def offsets_of(piece: Piece) -> Array:
    """The offsets of all lanes of a piece, including masked-off ones."""
    return piece.offsets_ if isinstance(piece, Lanes) else piece.offsets()


def active_of(piece: Piece, shape: tuple[int, ...]) -> Array:
    """Which lanes of a piece are active."""
    if isinstance(piece, Lanes):
        return piece.active
    return np.ones(shape, bool)


def offset_in(window: Window, index: int) -> int:
    """The offset of a cell in the argument of this window."""
    if not window.direct:
        return index
    return index - (window.region.address - window.cells.low) // window.cells.item_bytes
