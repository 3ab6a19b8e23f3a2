"""Rows of a covering array: few cases in which the levels of all factors meet each other.

Most mistakes show when two or three conditions meet (Kuhn, Wallace and Gallo, *Software Fault
Interactions and Implications for Software Testing*, 2004). The rows are found greedily, as in AETG
(Cohen, Dalal, Fredman and Patton, 1997): of some random rows take the one that adds most.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

Row = dict[str, Any]  # the level of each factor
Meeting = tuple[tuple[str, Any], ...]  # names of factors, each with its level

CANDIDATES = 12  # random rows, of which the best is taken
PAIR_WEIGHT = 4  # a new pair of levels is worth as much as four new triples


def covering(
    factors: Mapping[str, Sequence[Any]],
    count: int,
    seed: int,
    allowed: Callable[[Row], Row | None],
    seen_as: Callable[[Row], Row],
    cost: Callable[[Row], float],
) -> list[Row]:
    """At most `count` different rows that cover many pairs of levels, and then many triples.

    `allowed` returns a row as it may be used, or None. `seen_as` returns the levels that are to
    meet, for example classes of sizes for sizes. `cost` is from 0 to 1; the dearest row has to
    cover twice as much as one for nothing. Equal arguments give equal rows.
    """
    draw = random.Random(seed)
    seen: set[Meeting] = set()
    rows: list[Row] = []
    for _ in range(count):
        best, met, most = None, list[tuple[Meeting, int]](), 0.0
        for _ in range(CANDIDATES):
            row = allowed({name: draw.choice(levels) for name, levels in factors.items()})
            if row is None:
                continue
            meetings = _meetings(seen_as(row))
            gain = sum(worth for key, worth in meetings if key not in seen) / (1 + cost(row))
            if gain > most:
                best, met, most = row, meetings, gain
        if best is not None:
            rows.append(best)
            seen.update(key for key, _ in met)
    return rows


def _meetings(row: Row) -> list[tuple[Meeting, int]]:
    """Each pair and triple of levels that meet in a row, and what it is worth if it is new."""
    levels = sorted(row.items(), key=lambda item: item[0])
    pairs = [(pair, PAIR_WEIGHT) for pair in combinations(levels, 2)]
    return [*pairs, *((triple, 1) for triple in combinations(levels, 3))]
