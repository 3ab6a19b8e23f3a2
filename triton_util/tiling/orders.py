"""The order in which programs take the tiles of a matrix product, and how many loads it saves.

The model of the cache: `concurrent` programs run at the same time and step along K together. In
each step every program needs one block of a and one of b. The cache keeps the `capacity` blocks
that were used last. A GPU is less regular, but with a carefully chosen capacity the model ranks
two orders correctly; the lessons state the capacity that they use.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

Tile = tuple[int, int]


def row_major(n_rows: int, n_cols: int) -> list[Tile]:
    """Tiles (row, column) along the rows, one row after another."""
    return [(row, col) for row in range(n_rows) for col in range(n_cols)]


def grouped(n_rows: int, n_cols: int, group: int) -> list[Tile]:
    """Tiles in groups of `group` rows; within a group, down each column, then to the right."""
    order = []
    for first in range(0, n_rows, group):
        rows = range(first, min(first + group, n_rows))
        order += [(row, col) for col in range(n_cols) for row in rows]
    return order


def blocks_needed(tiles: Iterable[Tile], n_inner: int) -> int:
    """The number of distinct blocks of a and b that these tiles need, if K has `n_inner` blocks."""
    tiles = list(tiles)
    return (len({row for row, _ in tiles}) + len({col for _, col in tiles})) * n_inner


def hit_rate(order: Sequence[Tile], n_inner: int, concurrent: int, capacity: int) -> float:
    """The fraction of block loads that hit in the modelled cache, from 0 to 1."""
    cache: OrderedDict[tuple[str, int, int], None] = OrderedDict()
    hits = loads = 0
    for start in range(0, len(order), concurrent):
        for k in range(n_inner):
            for row, col in order[start : start + concurrent]:
                for block in (("a", row, k), ("b", k, col)):
                    loads += 1
                    hits += block in cache
                    cache[block] = None
                    cache.move_to_end(block)
                    if len(cache) > capacity:
                        cache.popitem(last=False)
    return hits / loads if loads else 0.0
