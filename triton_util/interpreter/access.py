"""Plans: how the lanes of one load or store map to memory.

A plan cuts an access into pieces that numpy can copy fast.  A *tile* piece is a window of constant
steps, copied once per start; a *lane* piece lists its offsets one by one.  Programs whose lanes are
all active are in a tile piece; the others (the ragged edges) are in a lane piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from triton_util.interpreter.operations.blocks import conjunction, total
from triton_util.interpreter.operations.formats import Array

Index = Any


@dataclass
class Tile:
    """Windows `flat[start + i * step + ...]` for every start; all lanes are active.

    starts has length 1 on each window axis.  Each axis is (axis, length, step), axis >= 1.
    """

    where: Index
    starts: Array
    axes: tuple[tuple[int, int, int], ...]

    def read(self, flat: Array) -> Array:
        """The elements, in the order of the block's axes."""
        windows, starts, order = self._windows(flat)
        found = windows[starts]
        return found if order is None else found.transpose(order)

    def write(self, flat: Array, values: Array) -> None:
        """Store `values`, of the shape that `read` returns."""
        windows, starts, order = self._windows(flat)
        if order is not None:
            values = values.transpose(np.argsort(order))
        windows[starts] = values

    def offsets(self) -> Array:
        """Every offset, one per lane."""
        whole = self.starts
        for axis, length, step in self.axes:
            shape = [1] * whole.ndim
            shape[axis] = length
            whole = whole + (np.arange(length) * step).reshape(shape)
        return whole

    def ends(self) -> tuple[int, int]:
        """The smallest and the largest offset."""
        return int(self.starts.min()), int(self.starts.max()) + self.reach

    @property
    def reach(self) -> int:
        """Elements from a start to the last lane of its window."""
        return sum((length - 1) * step for _, length, step in self.axes)

    @property
    def lanes(self) -> int:
        """How many lanes the piece has."""
        count = self.starts.size
        for _, length, _ in self.axes:
            count *= length
        return int(count)

    def _windows(self, flat: Array) -> tuple[Array, Array, list[int] | None]:
        item = flat.itemsize
        lengths = [length for _, length, _ in self.axes]
        strides = [step * item for _, _, step in self.axes]
        windows = np.lib.stride_tricks.as_strided(
            flat,
            [flat.size - self.reach, *lengths],
            [item, *strides],
            writeable=flat.flags.writeable,
        )
        moved = [axis for axis, _, _ in self.axes]
        kept = [axis for axis in range(self.starts.ndim) if axis not in moved]
        starts = self.starts.reshape([self.starts.shape[axis] for axis in kept])
        order = [*kept, *moved]
        if order == sorted(order):
            return windows, starts, None
        return windows, starts, [order.index(axis) for axis in range(len(order))]


@dataclass
class Lanes:
    """Offsets one by one; `active` says which of them count."""

    where: Index
    offsets_: Array
    active: Array

    def read(self, flat: Array) -> Array:
        """The elements; inactive lanes have arbitrary values."""
        if flat.size == 0 or not self.active.any():
            return np.zeros(self.offsets_.shape, flat.dtype)
        return flat.take(np.where(self.active, self.offsets_, self._harmless()))

    def write(self, flat: Array, values: Array) -> None:
        """Store the active lanes of `values`."""
        flat[self.offsets_[self.active]] = values[self.active]

    def offsets(self) -> Array:
        """The active offsets, flat."""
        return self.offsets_[self.active]

    def ends(self) -> tuple[int, int]:
        """The smallest and the largest active offset; (0, -1) if no lane is active."""
        offsets = self.offsets()
        return (int(offsets.min()), int(offsets.max())) if offsets.size else (0, -1)

    @property
    def lanes(self) -> int:
        """How many lanes are active."""
        return int(np.count_nonzero(self.active))

    def _harmless(self) -> int:
        return int(self.offsets_.ravel()[int(self.active.argmax())])


Piece = Tile | Lanes


@dataclass
class Plan:
    """The pieces of one access.  shape: (1 or P, *block)."""

    shape: tuple[int, ...]
    pieces: list[Piece]

    @property
    def lanes(self) -> int:
        """Active lanes over all programs of the plan."""
        return sum(piece.lanes for piece in self.pieces)

    @property
    def whole(self) -> bool:
        """Whether one tile covers every lane."""
        return len(self.pieces) == 1 and isinstance(self.pieces[0], Tile) and self._is_full()

    def within(self, extent: int) -> bool:
        """Whether every active lane is at an offset from 0 to extent - 1."""
        ends = [piece.ends() for piece in self.pieces]
        return all(low >= 0 and high < extent for low, high in ends)

    def _is_full(self) -> bool:
        return isinstance(self.pieces[0].where, type(Ellipsis))


def make_plan(terms: Sequence[Array], factors: Sequence[Array], shape: tuple[int, ...]) -> Plan:
    """Cut an access of `shape` (program axis first) into pieces.

    terms: element offsets, as a sum; factors: the mask, as a conjunction.
    """
    factors = [factor for factor in factors if not factor.all()]
    if not factors:
        return Plan(shape, [_tile(terms, shape, ...)])
    prefix, factors = _split_prefix(factors, shape)
    inner = tuple(prefix.get(axis, size) for axis, size in enumerate(shape))
    if 0 in inner:
        return Plan(shape, [])
    cut = [_cut(term, inner) for term in terms]
    corner: Index = ... if not prefix else tuple(slice(0, size) for size in inner)
    if not factors:
        return Plan(shape, [_tile(cut, inner, corner)])
    factors = [_cut(factor, inner) for factor in factors]
    return Plan(shape, _split_programs(cut, factors, inner))


def _split_programs(
    terms: Sequence[Array], factors: Sequence[Array], shape: tuple[int, ...]
) -> list[Piece]:
    programs = shape[0]
    complete = np.ones(programs, bool)
    alive = np.ones(programs, bool)
    for factor in factors:
        flat = factor.reshape(factor.shape[0], -1)
        complete &= flat.all(axis=1)
        alive &= flat.any(axis=1)
    ragged = alive & ~complete
    corner = tuple(slice(0, size) for size in shape[1:])
    pieces: list[Piece] = []
    if complete.any():
        rows = np.flatnonzero(complete)
        chosen = _as_range(rows)
        part = [_take(term, chosen) for term in terms]
        pieces.append(_tile(part, (len(rows), *shape[1:]), (chosen, *corner)))
    if ragged.any():
        chosen = np.flatnonzero(ragged)
        sub = (len(chosen), *shape[1:])
        offsets = np.broadcast_to(total([_take(term, chosen) for term in terms]), sub)
        active = np.broadcast_to(conjunction([_take(f, chosen) for f in factors]), sub)
        pieces.append(Lanes((chosen, *corner), offsets, active))
    return pieces


def _as_range(chosen: Array) -> Index:
    """A slice if the programs are consecutive, because numpy then copies no lane needlessly."""
    first, last = int(chosen[0]), int(chosen[-1])
    return slice(first, last + 1) if last - first == len(chosen) - 1 else chosen


def _take(part: Array, chosen: Index) -> Array:
    return part if part.shape[0] == 1 else part[chosen]


def _cut(part: Array, shape: tuple[int, ...]) -> Array:
    return part[tuple(slice(0, size) for size in shape)]


def _split_prefix(
    factors: Sequence[Array], shape: tuple[int, ...]
) -> tuple[dict[int, int], list[Array]]:
    """For masks like `columns < n` that all programs share, cut the block to a corner."""
    prefix: dict[int, int] = {}
    rest: list[Array] = []
    for factor in factors:
        axes = [axis for axis, size in enumerate(factor.shape) if size > 1]
        if not axes:
            prefix[0] = 0
            continue
        flat = factor.ravel()
        length = int(np.count_nonzero(flat))
        if len(axes) == 1 and axes[0] >= 1 and flat[:length].all():
            prefix[axes[0]] = min(length, prefix.get(axes[0], length))
        else:
            rest.append(factor)
    return prefix, rest


def _tile(terms: Sequence[Array], shape: tuple[int, ...], where: Index) -> Tile:
    steps: dict[int, int] = {}
    starts: list[Array] = []
    for term in terms:
        axes = [axis for axis, size in enumerate(term.shape) if size > 1]
        step = _constant_step(term) if len(axes) == 1 and axes[0] >= 1 else None
        if step is None or axes[0] in steps:
            starts.append(term)
        else:
            steps[axes[0]] = step
            starts.append(term.ravel()[:1].reshape([1] * term.ndim))
    base = total(starts)
    axes_used: list[tuple[int, int, int]] = []
    for axis, size in enumerate(shape):
        if axis == 0 or size == 1:
            continue
        if base.shape[axis] > 1:
            if axis in steps:
                base = base + _line(steps[axis], size, axis, base.ndim)
        else:
            axes_used.append((axis, size, steps.get(axis, 0)))
    if base.shape[0] != shape[0]:
        base = np.broadcast_to(base, (shape[0], *base.shape[1:]))
    return Tile(where, base, tuple(axes_used))


def _line(step: int, size: int, axis: int, ndim: int) -> Array:
    shape = [1] * ndim
    shape[axis] = size
    return (np.arange(size, dtype=np.int64) * step).reshape(shape)


def _constant_step(term: Array) -> int | None:
    flat = term.ravel()
    step = int(flat[1]) - int(flat[0])
    if step < 0:
        return None
    if flat.size > 2 and not (flat[1:] - flat[:-1] == step).all():
        return None
    return step
