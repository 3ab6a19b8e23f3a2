"""How an L2 cache serves the blocks that the programs of a launch load.

The model: a least-recently-used cache of whole blocks.  `concurrency` programs run at once and
take turns, one load each; the next wave starts when they are done.  The caller states capacity and
concurrency, because the result depends on both.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from triton_util.interpreter.operations.formats import Array


@dataclass(frozen=True)
class BlockLoads:
    """One load operation: for each program, which block of which argument it loads.

    programs: launch numbers.  first: offset of the block's first element.  bytes: active lanes.
    """

    argument: str
    programs: Array
    first: Array
    bytes: Array


@dataclass(frozen=True)
class CacheUse:
    """Block loads that hit in the cache, and those that missed.

    by_program: for each program that loads, its hits and the number of its loads.
    """

    hits: int
    misses: int
    missed_bytes: int
    capacity_bytes: int
    concurrency: int
    by_program: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def hit_rate(self) -> float:
        """Fraction of the block loads that hit, 0 to 1."""
        loads = self.hits + self.misses
        return self.hits / loads if loads else 0.0


Key = tuple[str, int]


def by_program(loads: list[BlockLoads]) -> dict[int, list[tuple[Key, int]]]:
    """For each program in launch order, its block loads: ((argument, first), bytes)."""
    result: dict[int, list[tuple[Key, int]]] = {}
    for load in loads:
        rows = zip(load.programs.tolist(), load.first.tolist(), load.bytes.tolist(), strict=True)
        for program, first, size in rows:
            result.setdefault(program, []).append(((load.argument, first), size))
    return dict(sorted(result.items()))


def simulate(loads: list[BlockLoads], capacity_bytes: int, concurrency: int = 1) -> CacheUse:
    """Send the loads of a launch through the cache."""
    if concurrency < 1 or capacity_bytes < 0:
        raise ValueError("concurrency must be at least 1 and capacity_bytes not negative")
    cache: OrderedDict[Key, int] = OrderedDict()
    used = hits = misses = missed = 0
    served: dict[int, tuple[int, int]] = {}
    for program, key, size in _interleaved(by_program(loads), concurrency):
        own, all_own = served.get(program, (0, 0))
        served[program] = (own + (key in cache), all_own + 1)
        if key in cache:
            cache.move_to_end(key)
            hits += 1
            continue
        misses += 1
        missed += size
        cache[key] = size
        used += size
        while used > capacity_bytes and cache:
            used -= cache.popitem(last=False)[1]
    return CacheUse(hits, misses, missed, capacity_bytes, concurrency, served)


def _interleaved(
    programs: dict[int, list[tuple[Key, int]]], concurrency: int
) -> Iterator[tuple[int, Key, int]]:
    queues = list(programs.items())
    for at in range(0, len(queues), concurrency):
        wave = queues[at : at + concurrency]
        for step in range(max(len(queue) for _, queue in wave)):
            for program, queue in wave:
                if step < len(queue):
                    yield program, *queue[step]


def distinct_blocks(loads: list[BlockLoads], programs: int) -> int:
    """How many distinct blocks the first programs of the launch load."""
    blocks = {
        (load.argument, int(first))
        for load in loads
        for first in load.first[load.programs < programs]
    }
    return len(blocks)


def first_blocks(loads: list[BlockLoads]) -> dict[str, Array]:
    """For each argument the block that each program loads first, in launch order."""
    result: dict[str, Array] = {}
    for name in dict.fromkeys(load.argument for load in loads):
        own = [load for load in loads if load.argument == name]
        programs = np.concatenate([load.programs for load in own])
        _, earliest = np.unique(programs, return_index=True)
        result[name] = np.concatenate([load.first for load in own])[earliest]
    return result
