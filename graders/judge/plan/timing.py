"""Timing a launch plan on the GPU of this process: rounds with fresh inputs, and bursts of calls.

No Python of the submission runs between two marks, only the steps of its plan. What comes back is
held against the judge's own clock, its own references and the hardware's floor all the same: the
process has run a stranger's kernels.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch

DEVICE = "cuda"
WARM_UP = 3
YARD_BYTES = 256 * 2**20  # a copy of a constant size, timed in each round: is the GPU undisturbed?
FLUSH_BYTES = 512 * 2**20  # several times the L2 of any GPU
LEAD_CYCLES = 2_000_000  # in which the GPU idles, and the host gets ahead of it

_event: Any = torch.cuda.Event
_sleep: Any = torch.cuda._sleep
Storages = dict[int, torch.Tensor]
Call = Callable[[Storages], torch.Tensor]


def timed(call: Call, storages: Storages, timing: Mapping[str, Any]) -> torch.Tensor:
    """What a timing job gives: the bytes of `rounds`, or the last output of a burst.

    `storages` are those of the first set of arguments by their numbers, and those of the second
    by -1 minus their numbers.
    """
    first = {number: storage for number, storage in storages.items() if number >= 0}
    if "calls" in timing:
        out = call(first)
        for _ in range(timing["calls"] - 1):
            out = call(first)
        return out
    second = {-1 - number: storage for number, storage in storages.items() if number < 0}
    source = random.Random(timing["seed"])
    return rounds(call, (first, second), timing["rounds"], source, timing["seconds"])


def rounds(
    call: Call,
    sets: tuple[Storages, Storages],
    count: int,
    source: random.Random,
    seconds: float,
) -> torch.Tensor:
    """Time `count` calls, each on inputs that are copied into the same place just before it.

    After `seconds` only the last two rounds follow, so that a slow kernel lets others have the GPU.

    As bytes: for each round the milliseconds of the call and of the yardstick in float64, not a
    number where it was left out; then the last output for each of the two sets.
    """
    place = {number: torch.empty_like(storage) for number, storage in sets[0].items()}
    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device=DEVICE)
    yard = torch.empty((2, YARD_BYTES // 2), dtype=torch.int8, device=DEVICE)
    order = [source.randrange(2) for _ in range(WARM_UP + count - 2)] + [0, 1]
    times: list[tuple[float, float]] = []
    last: list[Any] = [None, None]
    began = time.perf_counter()
    while order:
        which = order.pop(0)
        for number, target in place.items():
            target.copy_(sets[which][number])
        last[which], *took = _round(call, place, flush, yard)
        times.append((took[0], took[1]))
        if time.perf_counter() - began > seconds:
            order = order[-2:]
    counted = times[min(WARM_UP, len(times) - 2) :]
    counted += [(math.nan, math.nan)] * (count - len(counted))
    figures = torch.tensor(counted, dtype=torch.float64, device=DEVICE)
    return torch.cat([_bytes(figures), *(_bytes(out) for out in last)])


def _round(
    call: Call, place: Storages, flush: torch.Tensor, yard: torch.Tensor
) -> tuple[torch.Tensor, float, float]:
    """One call, and its time and that of the copy in milliseconds, both with cold caches."""
    marks: list[Any] = [_event(enable_timing=True) for _ in range(4)]
    torch.cuda.synchronize()
    _sleep(LEAD_CYCLES)
    flush.zero_()
    marks[0].record()
    out = call(place)
    marks[1].record()
    flush.zero_()
    marks[2].record()
    yard[1].copy_(yard[0])
    marks[3].record()
    torch.cuda.synchronize()
    return out, marks[0].elapsed_time(marks[1]), marks[2].elapsed_time(marks[3])


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().view(-1).view(torch.uint8)
