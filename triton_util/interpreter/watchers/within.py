"""Races between lanes of one program: one stores, another reads without a barrier in between.

A block is distributed over the threads of a program. A thread sees its own stores; it is certain to
see another thread's stores only after a barrier. `tl.debug_barrier` is one. In compiled code, so is
everything that sends values between threads through shared memory: reductions, scans, products,
gathers, and atomics that acquire or release. These count as barriers here.

Lanes with the same index in two blocks of one shape are assumed to be the same thread, and a
program of one warp is assumed to run in step. Both assumptions favour the kernel.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_util.interpreter.access import Piece, Plan
from triton_util.interpreter.operations.formats import Array, differs
from triton_util.interpreter.watchers.coverage import may_repeat

if TYPE_CHECKING:
    from triton_util.interpreter.contracts import Running
    from triton_util.interpreter.messages.reports import Reporter
    from triton_util.interpreter.regions import Region
    from triton_util.interpreter.state import Batch

# The number of stores and loads since the last barrier that are remembered.
MOST_REMEMBERED = 64


@dataclass
class _LaneAccess:
    region: Region
    plan: Plan
    place: tuple[str, int, str]


class WithinPrograms:
    """Watches loads and stores for order between the lanes of one program."""

    def __init__(self, run: Running) -> None:
        self._run = run
        self._stores: deque[_LaneAccess] = deque(maxlen=MOST_REMEMBERED)
        self._loads: deque[_LaneAccess] = deque(maxlen=MOST_REMEMBERED)
        self._repeats: list[tuple[Region, Piece, Array]] = []

    # -- the engine's events ---------------------------------------------------------------------

    def launch_started(self, batch: Batch, reporter: Reporter) -> None:
        """Begin a launch."""
        self.batch, self.reporter = batch, reporter
        self.one_warp = self._run.given_options.get("num_warps") == 1
        self.barrier()

    def launch_ended(self) -> None:
        """Forget all accesses, because launches are ordered."""
        self.barrier()

    def batch_started(self) -> None:
        """Begin a batch of other programs."""
        self.barrier()

    def batch_undone(self) -> None:
        """Forget the accesses of the batch."""
        self.barrier()

    def barrier(self) -> None:
        """Forget all accesses: every lane now sees what the others stored."""
        self._stores.clear()
        self._loads.clear()

    def atomic(self, region: Any, offsets: Any, programs: Any, pointer: Any, ordering: Any) -> None:
        """Count an atomic that acquires or releases as a barrier, since it is compiled with one."""
        if ordering.acquires or ordering.releases:
            self.barrier()

    def loaded(self, region: Region, plan: Plan, pointer: Any) -> None:
        """Compare a load with what other lanes have stored since the last barrier."""
        if self.one_warp or not plan.pieces:
            return
        place = self._run.lines.current()
        for store in self._stores:
            if store.region.storage == region.storage:
                self._compare(store, region, plan)
        self._loads.append(_LaneAccess(region, plan, place))

    def storing(self, region: Region, plan: Plan, parts: list[tuple[Piece, Array]]) -> None:
        """Record the content of memory where lanes of one program are about to collide."""
        self._repeats = [
            (region, piece, piece.read(region.flat).copy())
            for piece, values in parts
            if may_repeat(piece) and _varies(values) and self._was_loaded(region, piece, plan)
        ]

    def stored(self, region: Region, plan: Plan, parts: list[tuple[Piece, Array]]) -> None:
        """Remember a store; find updates of one element by several lanes."""
        if self.one_warp or not plan.pieces:
            return
        for known, piece, before in self._repeats:
            self._lost_update(known, piece, before)
        self._repeats = []
        if not any(may_repeat(piece) and _repeats(piece) for piece in plan.pieces):
            self._stores.append(_LaneAccess(region, plan, self._run.lines.current()))

    # -- judgement -------------------------------------------------------------------------------

    def _was_loaded(self, region: Region, piece: Piece, plan: Plan) -> bool:
        """Whether a load since the last barrier had exactly these lanes, as in an update."""
        return any(
            load.region.storage == region.storage
            and load.plan.shape[1:] == plan.shape[1:]
            and any(_same_lanes(piece, other) for other in load.plan.pieces)
            for load in self._loads
        )

    def _lost_update(self, region: Region, piece: Piece, before: Array) -> None:
        after = piece.read(region.flat)
        changed = differs(before, after, region.dtype) & _active(piece, after.shape)
        if not changed.any():
            return
        offsets = np.broadcast_to(_offsets(piece), changed.shape)
        programs = np.broadcast_to(
            _programs(piece, changed.shape, len(self.batch.linear)), changed.shape
        )
        keys = offsets[changed] + programs[changed] * (region.extent + 1)
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        if counts.max() < 2:
            return
        at = int(first[int((counts > 1).argmax())])
        self.reporter.lost_update(
            region,
            int(offsets[changed][at]),
            int(counts[counts > 1].sum()),
            self.batch.program_id(int(programs[changed][at])),
        )

    def _compare(self, store: _LaneAccess, region: Region, plan: Plan) -> None:
        """Find elements that one lane has stored and another lane of the program loads."""
        if store.region.item_bytes != region.item_bytes:
            return
        shift = (store.region.address - region.address) // region.item_bytes
        stored = _by_element(store.plan, shift, self.batch)
        loaded = _by_element(plan, 0, self.batch)
        if not len(stored) or not len(loaded):
            return
        places = np.searchsorted(stored[:, 0], loaded[:, 0])
        places = np.minimum(places, len(stored) - 1)
        met = stored[places, 0] == loaded[:, 0]
        racing = met & (stored[places, 1] != loaded[:, 1])
        if racing.any():
            at = int(racing.argmax())
            program, offset = divmod(int(loaded[at, 0]), _SPAN)
            self.reporter.unordered_lanes(
                region,
                offset - _FAR,
                int(np.count_nonzero(racing)),
                self.batch.program_id(program),
                store.place,
            )


_SPAN, _FAR = 1 << 40, 1 << 38


def _by_element(plan: Plan, shift: int, batch: Batch) -> Array:
    """(program and offset in one number, lane) of each active lane, sorted."""
    rows = []
    lanes = np.arange(int(np.prod(plan.shape[1:]))).reshape(1, *plan.shape[1:])
    for piece in plan.pieces:
        offsets = _offsets(piece) + shift + _FAR
        own = np.broadcast_to(lanes, plan.shape)[piece.where]
        shape = np.broadcast_shapes(offsets.shape, own.shape)
        on = np.broadcast_to(_active(piece, shape), shape)
        programs = _programs(piece, shape, batch.programs)
        keys = np.broadcast_to(programs, shape)[on] * _SPAN + np.broadcast_to(offsets, shape)[on]
        rows.append(np.stack([keys, np.broadcast_to(own, shape)[on]], axis=1))
    whole = np.concatenate(rows)
    if plan.shape[0] == 1 and batch.programs > 1:  # all programs share these lanes
        every = np.arange(batch.programs)
        keys = (every[:, None] * _SPAN + whole[:, 0]).reshape(-1)
        whole = np.stack([keys, np.tile(whole[:, 1], len(every))], axis=1)
    result: Array = whole[np.argsort(whole[:, 0], kind="stable")]
    return result


def _offsets(piece: Piece) -> Array:
    offsets = getattr(piece, "offsets_", None)
    return offsets if offsets is not None else piece.offsets()


def _active(piece: Piece, shape: tuple[int, ...]) -> Array:
    active = getattr(piece, "active", None)
    return np.ones(shape, bool) if active is None else active


def _programs(piece: Piece, shape: tuple[int, ...], programs: int) -> Array:
    """The index in the batch of each program of a piece."""
    numbers = np.arange(programs)
    if not isinstance(piece.where, type(Ellipsis)):
        numbers = numbers[piece.where[0]]
    numbers = numbers if len(numbers) == shape[0] else numbers[: shape[0]]
    return numbers.reshape((-1,) + (1,) * (len(shape) - 1))


def _same_lanes(piece: Piece, other: Piece) -> bool:
    mine, theirs = _offsets(piece), _offsets(other)
    programs = {len(mine), len(theirs)} - {1}
    if mine.shape[1:] != theirs.shape[1:] or len(programs) > 1:
        return False
    return bool((mine == theirs).all())


def _varies(values: Array) -> bool:
    """Whether the lanes have individual values; a constant is the same in all of them."""
    return any(
        size > 1 and stride
        for size, stride in zip(values.shape[1:], values.strides[1:], strict=True)
    )


def _repeats(piece: Piece) -> bool:
    """Whether two lanes of one program have the same element."""
    offsets = _offsets(piece)
    on = np.broadcast_to(_active(piece, offsets.shape), offsets.shape)
    for lanes, chosen in zip(offsets, on, strict=True):
        flat = lanes[chosen]
        if len(np.unique(flat)) < len(flat):
            return True
    return False
