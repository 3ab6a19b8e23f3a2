"""How many distinct elements a set of accesses covers, without marking each of them.

Accesses are stored as intervals of offsets.  A tile gives one interval per run of neighbours, so a
whole matrix is a few thousand intervals; single lanes give intervals of length one.
"""

from __future__ import annotations

import numpy as np

from triton_util.interpreter.access import Lanes, Piece, Tile
from triton_util.interpreter.operations.formats import Array

# Intervals are merged whenever this many are pending.
MOST_PENDING = 1 << 18


class Coverage:
    """The elements of one argument that some access has touched."""

    def __init__(self) -> None:
        self._low: list[Array] = []
        self._high: list[Array] = []
        self._pending = 0

    def add(self, piece: Piece) -> None:
        """Add the lanes of a piece."""
        if isinstance(piece, Lanes):
            low, length = _sorted_once(piece.offsets()), 1
        else:
            low, length = _runs(piece)
        self._low.append(low)
        self._high.append(low + length)
        self._pending += low.size
        if self._pending > MOST_PENDING:
            low, high = self._joined()
            self._low, self._high, self._pending = [low], [high], 0

    def elements(self) -> int:
        """How many distinct elements have been touched."""
        if not self._low:
            return 0
        low, high = self._joined()
        return int((high - low).sum())

    def copy(self) -> Coverage:
        """The elements touched so far; later additions do not change the copy."""
        other = Coverage()
        other._low, other._high, other._pending = [*self._low], [*self._high], self._pending
        return other

    def _joined(self) -> tuple[Array, Array]:
        low, high = np.concatenate(self._low), np.concatenate(self._high)
        order = np.argsort(low, kind="stable")
        low, high = low[order], high[order]
        reach = np.maximum.accumulate(high)
        first = np.ones(len(low), bool)
        first[1:] = low[1:] > reach[:-1]
        ends = np.append(np.flatnonzero(first)[1:], len(low)) - 1
        return low[first], reach[ends]


def _runs(tile: Tile) -> tuple[Array, int]:
    """(starts, length) of the runs of neighbouring elements of a tile."""
    starts = _sorted_once(tile.starts)
    length = 1
    for size, step in sorted(((size, step) for _, size, step in tile.axes), key=lambda a: a[1]):
        if step == 0:
            continue
        if step == length:
            length *= size
        else:
            starts = _sorted_once(starts[:, None] + np.arange(size) * step)
    return starts, length


def _sorted_once(offsets: Array) -> Array:
    """The distinct offsets in rising order; most are sorted already and need no sorting."""
    flat = offsets.reshape(-1)
    return flat if (flat[1:] > flat[:-1]).all() else np.unique(flat)


def may_repeat(piece: Piece) -> bool:
    """Whether a program might store twice to one element; False only if that is easily excluded."""
    if isinstance(piece, Lanes):
        return bool(piece.offsets_[0].size > 1)
    if piece.starts.size > len(piece.starts):
        return True
    extent = 1
    for step, size in sorted((abs(step), size) for _, size, step in piece.axes):
        if size > 1 and step < extent:
            return True
        extent += (size - 1) * step
    return False


def is_disjoint(piece: Piece) -> bool:
    """Whether it is easily seen that no two programs share an element."""
    if isinstance(piece, Lanes):
        return len(piece.offsets_) == 1
    if piece.starts.shape[0] == 1:
        return True
    starts = np.sort(piece.starts, axis=None)
    return bool((np.diff(starts) > piece.reach).all())
