"""Time a launch plan on the GPU of this process: rounds with fresh inputs, and bursts of calls.

No Python of the submission runs between two marks, only the steps of its plan. The judge still
checks the results against its own clock, its own references and the hardware's limit, because this
process has run untrusted kernels.

A kernel may detect that it is timed, and it must not remember results. So every round but the last
two has inputs that are drawn for it, and all memory that a call allocates is overwritten after it.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import torch

DEVICE = "cuda"
WARM_UP = 3
YARD_BYTES = 256 * 2**20  # size of a copy timed in each round: is the GPU undisturbed?
FLUSH_BYTES = 512 * 2**20  # several times the L2 of any GPU
IN_A_GRAPH = 10  # calls: starting a graph takes the host longer than a small kernel runs
LEAD_CYCLES = 2_000_000  # the GPU idles for so long, and the host gets ahead of it

_event: Any = torch.cuda.Event
_sleep: Any = torch.cuda._sleep
Storages = dict[int, torch.Tensor]
Draw = Callable[[Storages, int], None]


class TimedPlan(Protocol):
    """A plan that can be performed again and again."""

    def ready(self, inputs: Storages) -> None:
        """Take these inputs, and make the memory of the submission's module, and tables."""

    def perform(self, tables: bool = True) -> torch.Tensor:
        """Perform the steps of one call; `tables`: also make its tables of numbers anew."""

    def forget(self) -> None:
        """Overwrite all memory that the last call used, except its inputs."""


def timed(
    call: TimedPlan, storages: Storages, timing: Mapping[str, Any], draw: Draw
) -> torch.Tensor:
    """The result of a timing job: the bytes of `rounds`, or the last output of a burst.

    `storages` has those of the first set of arguments by their numbers, and those of the second by
    -1 minus their numbers. `draw(storages, seed)` draws new values where that is possible.
    """
    first = {number: storage for number, storage in storages.items() if number >= 0}
    if "calls" in timing:
        call.ready(first)
        return _burst(call, timing["calls"])
    second = {-1 - number: storage for number, storage in storages.items() if number < 0}
    source = random.Random(timing["seed"])
    return rounds(call, (first, second), timing["rounds"], source, timing["seconds"], draw)


def _burst(call: TimedPlan, count: int) -> torch.Tensor:
    """Make one call, then `count` calls directly after one another; return the last output.

    Some calls are recorded as a graph, which the GPU repeats without the host. So a burst takes the
    GPU's time, not that of the launching Python. `count` is a multiple of the calls in the graph.
    """
    out = call.perform(tables=False)
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(IN_A_GRAPH):
                out = call.perform(tables=False)
    except RuntimeError:  # a step that no graph can contain
        torch.cuda.synchronize()
        for _ in range(count):
            out = call.perform(tables=False)
        return out
    for _ in range(count // IN_A_GRAPH):
        graph.replay()
    torch.cuda.synchronize()
    return out.clone()  # the graph owns the memory


def rounds(
    call: TimedPlan,
    sets: tuple[Storages, Storages],
    count: int,
    source: random.Random,
    seconds: float,
    draw: Draw,
) -> torch.Tensor:
    """Time `count` calls, each on inputs that are put into the same place just before it.

    All but the last two rounds have inputs of their own. The last two have the two sets whose
    results the judge knows. No call can distinguish them from the others. After `seconds` only the
    last two follow, so that a slow kernel leaves the GPU to others.

    Returns bytes: for each round the milliseconds of the call and of the yardstick in float64, NaN
    for a round that was left out; then the last output for each of the two sets.
    """
    place = {number: torch.empty_like(storage) for number, storage in sets[0].items()}
    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device=DEVICE)
    yard = torch.empty((2, YARD_BYTES // 2), dtype=torch.int8, device=DEVICE)
    order = [source.randrange(2) for _ in range(WARM_UP + count - 2)] + [0, 1]
    times: list[tuple[float, float]] = []
    last: list[Any] = [torch.empty(0), torch.empty(0)]
    began = time.perf_counter()
    while order:
        which = order.pop(0)
        for number, target in place.items():
            target.copy_(sets[which][number])
        if len(order) >= 2:
            draw(place, source.getrandbits(62))
        call.ready(place)
        out, *took = _round(call, flush, yard)
        if len(order) < 2:
            last[which] = _bytes(out).clone()
        call.forget()
        times.append((took[0], took[1]))
        if time.perf_counter() - began > seconds:
            order = order[-2:]
    counted = times[min(WARM_UP, len(times) - 2) :]
    counted += [(math.nan, math.nan)] * (count - len(counted))
    figures = torch.tensor(counted, dtype=torch.float64, device=DEVICE)
    return torch.cat([_bytes(figures), *last])


def _round(
    call: TimedPlan, flush: torch.Tensor, yard: torch.Tensor
) -> tuple[torch.Tensor, float, float]:
    """The output of one call, its time and that of the copy in ms, both with cold caches."""
    marks: list[Any] = [_event(enable_timing=True) for _ in range(4)]
    torch.cuda.synchronize()
    _sleep(LEAD_CYCLES)
    flush.zero_()
    marks[0].record()
    out = call.perform()
    marks[1].record()
    flush.zero_()
    marks[2].record()
    yard[1].copy_(yard[0])
    marks[3].record()
    torch.cuda.synchronize()
    return out, marks[0].elapsed_time(marks[1]), marks[2].elapsed_time(marks[3])


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().view(-1).view(torch.uint8)
