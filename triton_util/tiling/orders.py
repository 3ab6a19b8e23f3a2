"""The order in which programs take the tiles of a matrix product, and what it saves.

The model of the cache: `concurrent` programs run at the same time and step along K together. In
each step every program needs one block of a and one of b. The cache keeps the blocks that were
used last, `capacity` of them. A GPU is less tidy; which of two orders is better comes out the same
where the capacity is chosen with care, and the lessons say which one they chose.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

Tile = tuple[int, int]


def row_major(n_rows: int, n_cols: int) -> list[Tile]:
    """Tiles (row, column) along the rows, one row after another."""
    return [(row, col) for row in range(n_rows) for col in range(n_cols)]


def grouped(n_rows: int, n_cols: int, group: int) -> list[Tile]:
    """Tiles in groups of `group` rows; within a group down the rows first, then to the right."""
    order = []
    for first in range(0, n_rows, group):
        rows = range(first, min(first + group, n_rows))
        order += [(row, col) for col in range(n_cols) for row in rows]
    return order


def blocks_needed(tiles: Iterable[Tile], n_inner: int) -> int:
    """Different blocks of a and b that these tiles need, when K is `n_inner` blocks long."""
    tiles = list(tiles)
    return (len({row for row, _ in tiles}) + len({col for _, col in tiles})) * n_inner


def hit_rate(order: Sequence[Tile], n_inner: int, concurrent: int, capacity: int) -> float:
    """Share of the block loads that the modelled cache answers, from 0 to 1."""
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
