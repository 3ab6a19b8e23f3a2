"""Where the stores of a launch were aimed at, before masking.

An element is never stored for one of two reasons: no program pointed at it, or the mask disabled
it. The pointers of a store, before the mask, distinguish the two. They are kept by reference while
the kernel runs, and evaluated only on request.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_util.interpreter.operations.blocks import Pointer, conjunction, total
from triton_util.interpreter.operations.formats import Array

if TYPE_CHECKING:
    from triton_util.interpreter.regions import Region
    from triton_util.interpreter.state import Batch

MOST_KEPT_BYTES = 16 << 20  # of pointers of one launch; above that there is no result
MOST_LANES = 1 << 24  # that are evaluated


@dataclass(frozen=True)
class Aim:
    """Where the stores of one launch to one tensor were aimed.

    lanes: of one program in one store, the maximum. reached: elements of the tensor that some lane
    points to; passed: lanes that their masks enable; storing: programs with an enabled lane; None
    if there are too many to count. firsts: the offset at which program (0, 0, 0) starts, and the
    offsets of the next program along each axis of the grid, None if there is no next one.
    """

    elements: int
    lanes: int
    reached: int | None
    passed: int | None
    storing: int | None
    firsts: tuple[int | None, int | None, int | None, int | None]


@dataclass
class _Store:
    region: Region
    programs: Array  # launch numbers
    terms: tuple[Array, ...]
    factors: tuple[Array, ...]  # of the mask
    shape: tuple[int, ...]  # of the block

    @property
    def lanes(self) -> int:
        return math.prod(self.shape)


class Aims:
    """Keeps the pointers of the stores of one launch."""

    def __init__(self) -> None:
        self._stores: list[_Store] = []
        self._kept = 0
        self._mark = 0
        self._grid = (1, 1, 1)

    def launch_started(self, batch: Batch, _reporter: Any) -> None:
        """Begin a launch; forget the one before."""
        self._stores, self._kept, self._mark, self._grid = [], 0, 0, batch.grid
        batch.aims = self

    def batch_started(self) -> None:
        """Begin a batch, which may be undone."""
        self._mark = len(self._stores)

    def batch_undone(self) -> None:
        """Forget the stores of the batch."""
        del self._stores[self._mark :]

    def add(
        self, region: Region, pointer: Pointer, factors: tuple[Array, ...], batch: Batch
    ) -> None:
        """Keep the pointers of one store, except for programs that control flow has deactivated."""
        programs, terms = batch.linear, tuple(pointer.sum_terms())
        if batch.active is not None and not batch.active.all():
            storing = np.flatnonzero(batch.active)
            programs, terms = programs[storing], _of(terms, storing)
            factors = _of(factors, storing)
        self._kept += sum(part.nbytes for part in (*terms, *factors))
        if self._kept <= MOST_KEPT_BYTES and programs.size:
            self._stores.append(_Store(region, programs, terms, factors, tuple(pointer.shape)))

    def __getattr__(self, event: str) -> Callable[..., None]:
        """Ignore the engine's other events."""
        if event.startswith("_"):
            raise AttributeError(event)
        return lambda *_: None

    def told(self, storage: int) -> Aim | None:
        """The aim at the memory that begins at this address; None if nothing was stored there."""
        stores = [store for store in self._stores if store.region.storage == storage]
        return self._aim(stores) if stores else None

    def _aim(self, stores: list[_Store]) -> Aim:
        region = stores[0].region
        nx, ny, nz = self._grid
        numbers = (0, 1 if nx > 1 else None, nx if ny > 1 else None, nx * ny if nz > 1 else None)
        first, *others = (_first_of(stores, number) for number in numbers)
        return Aim(
            region.elements,
            max(store.lanes for store in stores),
            **self._counted(region, stores),
            firsts=(first, others[0], others[1], others[2]),
        )

    def _counted(self, region: Region, stores: list[_Store]) -> dict[str, int | None]:
        """The figures that need a count of lanes, or None for each of them."""
        lanes = sum(len(store.programs) * store.lanes for store in stores)
        if self._kept > MOST_KEPT_BYTES or lanes > MOST_LANES or not region.dense:
            return dict.fromkeys(("reached", "passed", "storing"))
        touched = np.zeros(region.extent, bool)
        for offsets in map(_offsets, stores):
            touched[offsets[(offsets >= 0) & (offsets < region.extent)]] = True
        passed = [_passed(store) for store in stores]
        storing = [store.programs[on > 0] for store, on in zip(stores, passed, strict=True)]
        return {
            "reached": int(touched.sum()),
            "passed": sum(int(on.sum()) for on in passed),
            "storing": np.unique(np.concatenate(storing)).size,
        }


def _of(parts: tuple[Array, ...], chosen: Array) -> tuple[Array, ...]:
    return tuple(part[chosen] if part.shape[0] > 1 else part for part in parts)


def _passed(store: _Store) -> Array:
    """How many lanes of each program the mask enables."""
    on: Any = conjunction(store.factors) if store.factors else np.True_
    lanes = np.broadcast_to(on, (len(store.programs), *store.shape))
    counts: Array = np.count_nonzero(lanes.reshape(len(store.programs), -1), axis=1)
    return counts


def _offsets(store: _Store) -> Array:
    shape = (max(term.shape[0] for term in store.terms), *store.shape)
    whole: Array = np.broadcast_to(total(store.terms), shape).reshape(-1)
    return whole


def _first_of(stores: list[_Store], number: int | None) -> int | None:
    """The smallest offset of the first store of one program."""
    if number is None:
        return None
    for store in _with_program(stores, number):
        place = int(np.flatnonzero(store.programs == number)[0])
        own = [term[place if term.shape[0] > 1 else 0] for term in store.terms]
        return sum(int(term.min()) for term in own)
    return None


def _with_program(stores: list[_Store], number: int) -> Iterator[_Store]:
    return (store for store in stores if bool((store.programs == number).any()))
