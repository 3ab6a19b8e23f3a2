"""Which program stored and which read each element: completeness, races, uninitialised reads.

Stores are judged at once: two programs of a launch that store different values to one element race.
Loads are recorded, and examined only if their memory is also stored to in the same launch: an
element that one program stores and another reads is a race, in whatever order they ran here.

From the first atomic of a launch on, `ordered` judges accesses by what programs know of each other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from triton_util.interpreter.access import Lanes, Piece, Plan
from triton_util.interpreter.operations.formats import Array, differs
from triton_util.interpreter.watchers.cells import Cells, CellStore, Window
from triton_util.interpreter.watchers.coverage import is_disjoint, may_repeat
from triton_util.interpreter.watchers.fresh import FreshMemory
from triton_util.interpreter.watchers.happens_before import Ordering
from triton_util.interpreter.watchers.ordered import (
    OrderedAccesses,
    Reading,
    active_of,
    offset_in,
    offsets_of,
)

if TYPE_CHECKING:
    from triton_util.interpreter.contracts import Running
    from triton_util.interpreter.messages.reports import Reporter
    from triton_util.interpreter.regions import Region
    from triton_util.interpreter.state import Batch

MANY = np.int32(-1)
# Offsets of ragged loads are recorded one by one; above this size they are merged.
MOST_LOGGED_BYTES = 64 << 20
MOST_UNSETTLED = 64


class Shadow:
    """Watches the loads and stores of a run."""

    def __init__(self, run: Running) -> None:
        self.run = run
        self.cells = CellStore()
        self.fresh = FreshMemory()
        self._next_tag = 1
        self._log: list[Reading] = []
        self._log_mark = 0
        self._order_mark: Any = None
        self._log_bytes = 0
        self._readers: dict[int, tuple[Cells, Array]] = {}
        # Postponed tags of stores in which no two programs can collide: most are never needed.
        self._unsettled: list[tuple[Window, Piece, Array, int]] = []
        self._batch_number = 0
        self._replaced: list[tuple[Window, Piece, Array]] = []  # tags before the running batch

    # -- launches --------------------------------------------------------------------------------

    def launch_started(self, batch: Batch, reporter: Reporter) -> None:
        """Begin a launch, whose programs get the next tags."""
        programs = batch.grid[0] * batch.grid[1] * batch.grid[2]
        if self._next_tag + programs + 2 > np.iinfo(np.int32).max:
            self.settle()
            for cells in self.cells.everything():
                cells.tags[cells.tags != 0] = 1
            self._next_tag = 2
        self.batch, self.reporter = batch, reporter
        self.base = self._next_tag
        self._next_tag = self.base + programs
        self.programs = programs
        self.ordered: OrderedAccesses | None = None
        if len(self._unsettled) > MOST_UNSETTLED:
            self.settle()
        self._forget_readings()
        for cells in self.cells.everything():
            cells.launch_range = None

    def launch_ended(self) -> None:
        """Compare the loads of the launch with its stores."""
        if self.ordered is None:
            self._judge_loads()
        self._forget_readings()

    def _judge_loads(self) -> None:
        """Compare all loads so far with all stores so far, since programs have not waited yet."""
        self._fold_readings()
        for cells, readers in self._readers.values():
            if cells.stored_in_launch:
                self.settle(cells)
                self._judge_readers(cells, readers)
        self._readers.clear()

    def batch_started(self) -> None:
        """Begin a batch; if it is undone, its loads and atomics are too."""
        self._log_mark = len(self._log)
        self._batch_number += 1
        self._replaced.clear()
        undoable = self.batch.undo is not None and self.ordered is not None
        self._order_mark = self.ordered.order.mark() if undoable and self.ordered else None

    def batch_undone(self) -> None:
        """Forget the loads and atomics of the batch, because its stores were undone."""
        del self._log[self._log_mark :]
        self._unsettled = [entry for entry in self._unsettled if entry[3] != self._batch_number]
        for window, piece, tags in reversed(self._replaced):
            window.write(piece, tags)
        self._replaced.clear()
        if self._order_mark is None:
            self.ordered = None
        elif self.ordered is not None:
            self.ordered.order.rewind(self._order_mark)

    def readings_of(self, cells: Cells) -> list[Reading]:
        """The loads of this memory so far, in order."""
        return [reading for reading in self._log if reading.window.cells is cells]

    def settle(self, cells: Cells | None = None) -> None:
        """Write the postponed tags, for these cells or for all."""
        left = []
        for entry in self._unsettled:
            window, piece, tags, batch = entry
            if cells is not None and window.cells is not cells:
                left.append(entry)
            elif batch == self._batch_number:
                self._write(window, piece, tags)
            else:
                window.write(piece, tags)
        self._unsettled = left

    def _write(self, window: Window, piece: Piece, tags: Array) -> None:
        """Set tags of the running batch, so that they can be undone with it."""
        if self.batch.undo is not None:
            self._replaced.append((window, piece, window.read(piece)))
        window.write(piece, tags)

    # -- accesses --------------------------------------------------------------------------------

    def loaded(self, region: Region, plan: Plan, pointer: Any) -> None:
        """Record a load; check at once whether it reads memory that was never written."""
        if not plan.pieces:
            return
        window = self.cells.window(region)
        if self.fresh.holds(region.storage):
            self.settle(window.cells)
            self._judge_fresh(window, plan.pieces, region)
        reading = self._reading(window, plan)
        self._log.append(reading)
        if self.ordered is not None:
            self.ordered.loaded(reading)
        self._log_bytes += sum(p.offsets_.nbytes for p in plan.pieces if isinstance(p, Lanes))
        if self._log_bytes > MOST_LOGGED_BYTES:
            self._fold_readings()

    def storing(self, region: Region, plan: Plan, parts: list[tuple[Piece, Array]]) -> None:
        """Find programs that overwrite what another one stored in this launch."""
        window = self.cells.window(region)
        if self.ordered is not None:
            for piece, values in parts:
                self.settle(window.cells)
                numbers = self._numbers_of(piece, values.shape)
                self.ordered.storing(region, window, piece, values, numbers)
            return
        if not window.cells.stored_in_launch:
            return
        for piece, values in parts:
            if window.is_apart(piece):
                continue
            self.settle(window.cells)
            tags = self._tags_of(piece, values.shape)
            before = window.read(piece)
            other = (before >= self.base) & (before != tags) & active_of(piece, values.shape)
            if other.any():
                changed = other & differs(piece.read(region.flat), values, region.dtype)
                self._report_write(window, piece, changed, before, tags)

    def stored(self, region: Region, plan: Plan, parts: list[tuple[Piece, Array]]) -> None:
        """Set the tags; programs that write one element in the same step are detected here."""
        window = self.cells.window(region)
        for piece, values in parts:
            tags = self._tags_of(piece, values.shape)
            apart = window.is_apart(piece)
            window.extend(piece)
            repeats = may_repeat(piece)
            if self.ordered is not None:
                numbers = self._numbers_of(piece, values.shape)
                self.ordered.stored(window, piece, values.shape, numbers)
            if apart and is_disjoint(piece) and self.ordered is None:
                self._unsettled.append((window, piece, tags, self._batch_number))
                if not repeats:
                    continue
                after = tags
            else:
                self.settle(window.cells)
                self._write(window, piece, tags)
                after = tags if self.batch.programs == 1 else window.read(piece)
            lost = (after != tags) & active_of(piece, values.shape)
            if not repeats and not lost.any():
                continue
            changed = differs(piece.read(region.flat), values, region.dtype)
            self._report_write(window, piece, lost & changed, after, tags)
            if repeats:
                clash = changed & (after == tags) & active_of(piece, values.shape)
                self._report_lanes(window, piece, clash, tags)

    def atomic(
        self, region: Region, offsets: Array, programs: Array, pointer: Any, ordering: Ordering
    ) -> Callable[[], None]:
        """Note an atomic operation; returns a function to call when its result is used."""
        if self.ordered is None:
            self._judge_loads()
            self.ordered = OrderedAccesses(self, self.programs)
        ordered = self.ordered
        window = self.cells.window(region)
        self.settle(window.cells)
        lanes = Lanes(..., offsets, np.ones(offsets.shape, bool))
        if ordering.reads and self.fresh.holds(region.storage):
            self._judge_fresh(window, [lanes], region, programs)
        event = ordered.atomic(window, offsets, programs, ordering)
        if ordering.writes:
            tags = (programs + self.base).astype(np.int32)
            self._write(window, lanes, tags)
            window.cells.launch_range = (window.cells.low, window.cells.high)
        return lambda: ordered.order.seen(event)

    # -- judgement -------------------------------------------------------------------------------

    def _tags_of(self, piece: Piece, shape: tuple[int, ...]) -> Array:
        numbers = self._numbers_of(piece, shape)
        return np.broadcast_to((numbers + self.base).astype(np.int32), shape)

    def _numbers_of(self, piece: Piece, shape: tuple[int, ...]) -> Array:
        linear = self.batch.linear
        if not isinstance(piece.where, type(Ellipsis)):
            chosen = piece.where[0]
            linear = linear[chosen]
        return linear.reshape((-1,) + (1,) * (len(shape) - 1))

    def _reading(self, window: Window, plan: Plan) -> Reading:
        """A load with its readers: MANY if all programs share the lanes."""
        shared = plan.shape[0] != self.batch.programs
        if shared:
            active = self.batch.active
            everyone = self.batch.linear if active is None else self.batch.linear[active]
            tag = np.array([MANY if len(everyone) else 0], np.int32)
            pieces, numbers = [(piece, tag) for piece in plan.pieces], [everyone] * len(plan.pieces)
        else:
            numbers = [self._numbers_of(piece, plan.shape).reshape(-1) for piece in plan.pieces]
            tags = [(number + self.base).astype(np.int32) for number in numbers]
            pieces = list(zip(plan.pieces, tags, strict=True))
        clock = self.ordered.order.clock if self.ordered is not None else None
        return Reading(window, pieces, self.reporter.lines.current(), numbers, shared, clock)

    def _fold_readings(self) -> None:
        """Merge the recorded loads into one reader per element, or MANY."""
        for reading in self._log:
            cells = reading.window.cells
            key = id(cells)
            if key not in self._readers or len(self._readers[key][1]) != len(cells.tags):
                if not cells.stored_in_launch and self._log_bytes <= MOST_LOGGED_BYTES:
                    continue
                self._readers[key] = (cells, np.zeros(len(cells.tags), np.int32))
            readers = self._readers[key][1]
            for piece, tags in reading.pieces:
                self._fold_piece(reading.window, piece, tags, readers)
        if self._log_bytes > MOST_LOGGED_BYTES:
            self._log.clear()
            self._log_mark, self._log_bytes = 0, 0

    def _fold_piece(self, window: Window, piece: Piece, tags: Array, readers: Array) -> None:
        before = window.read(piece, readers)
        now = np.broadcast_to(tags.reshape((-1,) + (1,) * (before.ndim - 1)), before.shape)
        joint = np.where((before == 0) | (before == now), now, MANY)
        window.write(piece, np.where(now == 0, before, joint), readers)
        if now.shape[0] > 1:
            after = window.read(piece, readers)
            lost = (after != now) & (after != MANY) & (now != 0)
            if lost.any():
                spread = Lanes(piece.where, offsets_of(piece), lost & active_of(piece, lost.shape))
                window.write(spread, np.full(lost.shape, MANY), readers)

    def _judge_readers(self, cells: Cells, readers: Array) -> None:
        written = cells.tags >= self.base
        conflict = written & (readers != 0) & (readers != cells.tags)
        if not conflict.any():
            return
        index = int(conflict.argmax())
        found = self._reading_of(cells, index)
        region = found.window.region if found else None
        offset = offset_in(found.window, index) if found is not None else index
        self.reporter.read_race(
            region,
            offset,
            int(np.count_nonzero(conflict)),
            self._program_of(int(cells.tags[index])),
            found.place if found else ("", 0, ""),
        )

    def _reading_of(self, cells: Cells, index: int) -> Reading | None:
        """The first load that read the element in another program than the one that stored it."""
        for reading in self._log:
            if reading.window.cells is not cells:
                continue
            probe = np.zeros(len(cells.tags), np.int32)
            for piece, tags in reading.pieces:
                self._fold_piece(reading.window, piece, tags, probe)
            if probe[index] not in (0, cells.tags[index]):
                return reading
        return None

    def _judge_fresh(
        self, window: Window, pieces: Iterable[Piece], region: Region, atomic: Array | None = None
    ) -> None:
        """Report a load, or an atomic of these programs, of memory that was never written."""
        for piece in pieces:
            unwritten = window.read(piece) == 0
            unwritten &= active_of(piece, unwritten.shape)
            if unwritten.any():
                offsets = np.broadcast_to(offsets_of(piece), unwritten.shape)[unwritten]
                index = int(np.unravel_index(int(unwritten.argmax()), unwritten.shape)[0])
                number, operation = atomic, "An atomic operation"
                if number is None:
                    number, operation = self._numbers_of(piece, unwritten.shape).ravel(), "tl.load"
                at = self.coordinates(int(number[min(index, len(number) - 1)]))
                self.reporter.uninitialised(region, int(offsets[0]), len(offsets), at, operation)
                return

    def _report_write(
        self, window: Window, piece: Piece, changed: Array, others: Array, tags: Array
    ) -> None:
        if not changed.any():
            return
        at = int(changed.argmax())
        offsets = np.broadcast_to(offsets_of(piece), changed.shape)
        first = int(offsets.ravel()[at])
        programs = [self._program_of(int(tag.ravel()[at])) for tag in (tags, others)]
        count = len(np.unique(offsets[changed]))
        self.reporter.write_race(window.region, first, count, programs[0], programs[1])

    def _report_lanes(self, window: Window, piece: Piece, clash: Array, tags: Array) -> None:
        if not clash.any():
            return
        at = int(clash.argmax())
        offsets = np.broadcast_to(offsets_of(piece), clash.shape)
        count = len(np.unique(offsets[clash]))
        program = self._program_of(int(tags.ravel()[at]))
        self.reporter.lane_race(window.region, int(offsets.ravel()[at]), count, program)

    def _program_of(self, tag: int) -> tuple[int, int, int]:
        return self.coordinates(tag - self.base)

    def coordinates(self, number: int) -> tuple[int, int, int]:
        """(x, y, z) of a program by its number in the launch."""
        nx, ny, _ = self.batch.grid
        return number % nx, number // nx % ny, number // (nx * ny)

    def _forget_readings(self) -> None:
        self._log.clear()
        self._readers.clear()
        self._log_mark, self._log_bytes = 0, 0

    # -- for the judge ---------------------------------------------------------------------------

    def never_stored(self, out: torch.Tensor) -> Array:
        """True for the elements of the view that no kernel stored completely."""
        if out.numel() == 0:
            return np.ones(tuple(out.shape), bool)
        self.settle()
        missing = np.zeros(tuple(out.shape), bool)
        for addresses in self.cells.addresses_of(out):
            missing |= ~self.cells.stored_at(addresses)
        return missing

    def forget_stores(self, view: torch.Tensor) -> None:
        """Mark the view as not stored, because something other than a kernel wrote to it."""
        low = view.data_ptr()
        spans = zip(view.shape, view.stride(), strict=True)
        high = low + (1 + sum((size - 1) * stride for size, stride in spans)) * view.element_size()
        if view.numel() and self.cells.touches(low, high):
            self.settle()
            for addresses in self.cells.addresses_of(view):
                self.cells.forget(addresses)

    @contextlib.contextmanager
    def fresh_memory(self) -> Iterator[None]:
        """Watch which tensors torch makes uninitialised."""
        with self.fresh:
            yield
