"""What each program of a launch points at, and which lanes its mask enables.

It is recorded only on request (`EngineOptions.programs`), to show a learner what the programs of a
small input did. Accesses are kept by reference while the kernel runs, and evaluated afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from triton_util.interpreter.operations.blocks import Pointer, conjunction, total
from triton_util.interpreter.operations.formats import Array

if TYPE_CHECKING:
    import torch

    from triton_util.interpreter.regions import Region
    from triton_util.interpreter.state import Batch

MOST_LANES = 1 << 22  # of all programs together; above that there is no result
MOST_RUNS = 9
MOST_FIRST, MOST_LAST = 24, 4  # programs that get a row, from the start and from the end

Operation = Literal["load", "store"]
Runs = list[tuple[int, int]]  # first and last element of each contiguous run


@dataclass(frozen=True)
class ProgramRow:
    """One program: its offsets in the order of the lanes, and those that its mask enables.

    prefix: whether the enabled lanes are the first ones.
    """

    number: int
    lanes: int
    on: int
    prefix: bool
    offsets: Runs
    touched: Runs


@dataclass(frozen=True)
class AccessMap:
    """One line's accesses to one argument, by program.

    once: each program made exactly one. firsts: where lane 0 of a program points, as start and
    steps along the axes of the grid; None if it is not linear. steps: from lane to lane along the
    axes of the block, None if they differ. twice: elements that several programs touch.
    """

    operation: Operation
    argument: str
    shape: tuple[int, ...]
    dense: bool
    grid: tuple[int, int, int]
    block: tuple[int, ...]
    once: bool
    firsts: tuple[int, int, int, int] | None
    steps: tuple[int | None, ...]
    twice: Runs
    rows: list[ProgramRow]


@dataclass
class _Access:
    operation: Operation
    region: Region
    line: int
    programs: Array  # launch numbers of those that control flow has left active
    places: Array  # their indices in the batch
    terms: tuple[Array, ...]
    factors: tuple[Array, ...]
    block: tuple[int, ...]

    def lanes(self) -> tuple[Array, Array]:
        """(programs, *block): the offsets, and which of them are enabled."""
        shape = (len(self.places), *self.block)
        terms = [_of(term, self.places) for term in self.terms]
        on: Any = np.True_
        if self.factors:
            on = conjunction([_of(factor, self.places) for factor in self.factors])
        return np.broadcast_to(total(terms), shape), np.broadcast_to(on, shape)


@dataclass
class _Program:
    """The lanes of one program, flat; `first` has those of its first access as a block."""

    first: Array
    offsets: list[Array]
    on: list[Array]


class Programs:
    """Records the accesses of the last launch."""

    def __init__(self, line: Callable[[], int]) -> None:
        self._line = line
        self._accesses: list[_Access] = []
        self._mark = 0
        self._grid = (1, 1, 1)

    def launch_started(self, batch: Batch, _reporter: Any) -> None:
        """Begin a launch; forget the one before."""
        self._accesses, self._mark, self._grid = [], 0, batch.grid
        batch.pointing = self

    def batch_started(self) -> None:
        """Begin a batch, which may be undone."""
        self._mark = len(self._accesses)

    def batch_undone(self) -> None:
        """Forget the accesses of the batch."""
        del self._accesses[self._mark :]

    def add(
        self, operation: Operation, pointer: Pointer, factors: tuple[Array, ...], batch: Batch
    ) -> None:
        """Record one access, which may still turn out to be illegal."""
        assert pointer.region is not None
        places = np.arange(len(batch.linear))
        if batch.active is not None:
            places = np.flatnonzero(batch.active)
        made = _Access(
            operation,
            pointer.region,
            self._line(),
            batch.linear[places],
            places,
            tuple(pointer.sum_terms()),
            factors,
            tuple(pointer.shape),
        )
        self._accesses.append(made)

    def __getattr__(self, event: str) -> Callable[..., None]:
        """Ignore the engine's other events."""
        if event.startswith("_"):
            raise AttributeError(event)
        return lambda *_: None

    def stored_to(self, storage: int) -> AccessMap | None:
        """The stores to the memory that begins at this address; None if there are none."""
        stores = self._stores_to(storage)
        return self._told(stores) if stores else None

    def _stores_to(self, storage: int) -> list[_Access]:
        return [
            made
            for made in self._accesses
            if made.operation == "store" and made.region.storage == storage
        ]

    def stored_again(self, out: torch.Tensor) -> Array:
        """True for the elements of a dense view that a program stored from a line that had stored
        before in the same program, as in the second round of a loop.
        """
        again = np.zeros(out.numel(), bool)
        rounds: Counter[tuple[int, int]] = Counter()  # by line and program
        for made in self._stores_to(out.untyped_storage().data_ptr()):
            numbers = made.programs.tolist()
            later = np.array([rounds[made.line, number] > 0 for number in numbers], bool)
            rounds.update((made.line, number) for number in numbers)
            if later.any():
                offsets, on = made.lanes()
                first = (made.region.address - out.data_ptr()) // out.element_size()
                places = first + offsets[later][on[later]]
                again[places[(places >= 0) & (places < again.size)]] = True
        return again.reshape(tuple(out.shape))

    def loaded_beside(self, storage: int) -> list[AccessMap]:
        """The loads from all memory except that which begins at this address, by argument."""
        by_argument: dict[str, list[_Access]] = {}
        for made in self._accesses:
            if made.operation == "load" and made.region.storage != storage:
                by_argument.setdefault(made.region.name, []).append(made)
        told = (self._told(loads) for loads in by_argument.values())
        return [pointed for pointed in told if pointed is not None]

    def stopped(self) -> AccessMap | None:
        """The access that stopped the launch, with the other programs' accesses from the same line.

        If the line is in a loop, each program's latest access counts.
        """
        if not self._accesses:
            return None
        last = self._accesses[-1]
        same = [
            made
            for made in self._accesses
            if (made.operation, made.region.name, made.line)
            == (last.operation, last.region.name, last.line)
        ]
        return self._told(same, latest=True)

    def _told(self, accesses: list[_Access], latest: bool = False) -> AccessMap | None:
        lanes = sum(len(made.places) * int(np.prod(made.block)) for made in accesses)
        if lanes > MOST_LANES:
            return None
        found: dict[int, _Program] = {}
        for made in accesses:
            _sort_in(found, made, latest)
        numbers = sorted(found)
        region, block = accesses[0].region, accesses[0].block
        if not numbers:
            return None
        once = all(len(found[n].offsets) == 1 for n in numbers)
        return AccessMap(
            operation=accesses[0].operation,
            argument=region.name,
            shape=region.shape,
            dense=region.dense,
            grid=self._grid,
            block=block,
            once=once and len({made.block for made in accesses}) == 1,
            firsts=self._line_of({n: int(found[n].first.flat[0]) for n in numbers}),
            steps=_steps([found[n].first for n in numbers]),
            twice=_twice(found.values()),
            rows=[_row(n, found[n]) for n in _chosen(numbers)],
        )

    def _line_of(self, firsts: dict[int, int]) -> tuple[int, int, int, int] | None:
        """Start and steps of `start + steps · program id`, if the programs fit this formula."""
        nx, ny, _ = self._grid
        start = firsts.get(0)
        if start is None:
            return None
        x, y, z = (firsts.get(number, start) - start for number in (1, nx, nx * ny))
        x, y = (x if nx > 1 else 0), (y if ny > 1 else 0)
        for number, first in firsts.items():
            at = start + x * (number % nx) + y * (number // nx % ny) + z * (number // (nx * ny))
            if at != first:
                return None
        return start, x, y, z


def _of(part: Array, places: Array) -> Array:
    return part if part.shape[0] == 1 else part[places]


def _sort_in(found: dict[int, _Program], made: _Access, latest: bool) -> None:
    offsets, on = made.lanes()
    for number, own, active in zip(made.programs.tolist(), offsets, on, strict=True):
        if latest or number not in found:
            found[number] = _Program(own, [], [])
        found[number].offsets.append(own.ravel())
        found[number].on.append(active.ravel())


def _chosen(numbers: list[int]) -> list[int]:
    if len(numbers) <= MOST_FIRST + MOST_LAST:
        return numbers
    return [*numbers[:MOST_FIRST], *numbers[-MOST_LAST:]]


def _row(number: int, program: _Program) -> ProgramRow:
    offsets, on = np.concatenate(program.offsets), np.concatenate(program.on)
    count = int(np.count_nonzero(on))
    return ProgramRow(
        number, offsets.size, count, bool(on[:count].all()), _runs(offsets), _runs(offsets[on])
    )


def _runs(offsets: Array) -> Runs:
    """The first few contiguous runs, in the order of the lanes."""
    if not offsets.size:
        return []
    breaks = np.flatnonzero(np.diff(offsets) != 1)[: MOST_RUNS - 1]
    ends = [*breaks.tolist(), offsets.size - 1]
    if len(breaks) == MOST_RUNS - 1:
        rest = np.flatnonzero(np.diff(offsets[int(breaks[-1]) + 1 :]) != 1)
        ends[-1] = int(breaks[-1]) + 1 + int(rest[0]) if rest.size else offsets.size - 1
    starts = [0, *(end + 1 for end in ends[:-1])]
    return [(int(offsets[a]), int(offsets[b])) for a, b in zip(starts, ends, strict=True)]


def _steps(blocks: list[Array]) -> tuple[int | None, ...]:
    """Steps from lane to lane along each axis; 0 for an axis with one lane."""
    found: list[int | None] = []
    for axis in range(blocks[0].ndim):
        seen = {
            int(step)
            for block in blocks
            if block.ndim == blocks[0].ndim
            for step in np.unique(np.diff(block, axis=axis))[:2]
        }
        found.append(None if len(seen) > 1 else seen.pop() if seen else 0)
    return tuple(found)


def _twice(programs: Iterable[_Program]) -> Runs:
    """Offsets that the masks of several programs enable."""
    own = [
        np.unique(np.concatenate([o[a] for o, a in zip(p.offsets, p.on, strict=True)]))
        for p in programs
    ]
    if not own:
        return []
    values, counts = np.unique(np.concatenate(own), return_counts=True)
    return _runs(values[counts > 1])
