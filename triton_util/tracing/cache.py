"""A least-recently-used cache over whole blocks: a model of the L2, with its capacity stated."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

Load = tuple[str, Hashable, int]  # argument, identity of the block, bytes


@dataclass(frozen=True)
class CacheResult:
    """hits and loads: one number for each program, in launch order; bytes over all programs."""

    capacity_bytes: int
    concurrency: int
    hits: tuple[int, ...]
    loads: tuple[int, ...]
    bytes_loaded: int
    bytes_missed: int

    @property
    def hit_rate(self) -> float:
        """The share of loads that the cache served; 0 where there were none."""
        return sum(self.hits) / sum(self.loads) if sum(self.loads) else 0.0


def run_cache(
    programs: Sequence[Sequence[Load]], capacity_bytes: int, concurrency: int = 1
) -> CacheResult:
    """Send the loads of all programs through the cache.

    Raises ValueError for a capacity that is negative or a concurrency below 1.
    """
    if capacity_bytes < 0 or concurrency < 1:
        raise ValueError("the capacity must not be negative, the concurrency at least 1")
    held: OrderedDict[tuple[str, Hashable], int] = OrderedDict()
    free = capacity_bytes
    hits, loads = [0] * len(programs), [len(items) for items in programs]
    loaded = missed = 0
    for program, (argument, block, size) in _in_turn(programs, concurrency):
        loaded += size
        key = (argument, block)
        if key in held:
            held.move_to_end(key)
            hits[program] += 1
            continue
        missed += size
        if size > capacity_bytes:
            continue
        held[key] = size
        free -= size
        while free < 0:
            free += held.popitem(last=False)[1]
    return CacheResult(capacity_bytes, concurrency, tuple(hits), tuple(loads), loaded, missed)


def _in_turn(programs: Sequence[Sequence[Load]], concurrency: int) -> Iterator[tuple[int, Load]]:
    """Loads in the order of time: `concurrency` programs at once, each its next load in turn."""
    for first in range(0, len(programs), concurrency):
        wave = range(first, min(first + concurrency, len(programs)))
        for step in range(max((len(programs[program]) for program in wave), default=0)):
            for program in wave:
                if step < len(programs[program]):
                    yield program, programs[program][step]
