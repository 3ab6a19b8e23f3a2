"""What a worker executes to time a submission. The judge sends this text, and a call of `serve`.

This runs in the jail, beside the submission, so nothing that it returns is believed unchecked:
The judge holds it against its own clock, its own references and the hardware's floor. It
imports nothing of ours, because the worker has nothing of ours to import.
"""

from __future__ import annotations

import linecache
import random
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

# Taken hold of before the submission is loaded, which cannot put others in their place.
_event: Any = torch.cuda.Event
_synchronize = torch.cuda.synchronize
_sleep: Any = torch.cuda._sleep

DEVICE = "cuda"
WARM_UP = 3
YARD_BYTES = 256 * 2**20  # a copy of a constant size, timed in each round: is the GPU undisturbed?
FLUSH_BYTES = 512 * 2**20  # several times the L2 of any GPU
LEAD_CYCLES = 2_000_000  # in which the GPU idles, and Python gets ahead of it


def serve(source: str, filename: str, name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The two launchers that the judge asks for: timed rounds, and a burst of calls.

    source, filename, name: the submission's text, and the name of its launcher.
    """
    launch = _load(source, filename, name)

    def rounds(*given: Any) -> torch.Tensor:
        """Two sets of arguments, the number of rounds, a seed → times and outputs as bytes."""
        *args, count, seed = given
        half = len(args) // 2
        return _rounds(launch, (args[:half], args[half:]), count, random.Random(seed))

    def burst(*given: Any) -> Any:
        """One set of arguments and a number of calls → the last output."""
        *args, calls = given
        out = None
        for _ in range(calls):
            out = launch(*args)
        return out

    return rounds, burst


def _load(source: str, filename: str, name: str) -> Callable[..., Any]:
    module = types.ModuleType("timed")
    module.__file__ = filename
    sys.modules["timed"] = module
    lines = source.splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)  # triton.jit asks for it
    exec(compile(source, filename, "exec"), module.__dict__)
    launcher: Callable[..., Any] = module.__dict__[name]
    return launcher


def _rounds(
    launch: Callable[..., Any], sets: tuple[Any, Any], count: int, source: random.Random
) -> torch.Tensor:
    """Time `count` calls, each on inputs that are copied into the same place just before it."""
    place = [_like(arg) for arg in sets[0]]
    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device=DEVICE)
    yard = torch.empty((2, YARD_BYTES // 2), dtype=torch.int8, device=DEVICE)
    order = [source.randrange(2) for _ in range(WARM_UP + count - 2)] + [0, 1]
    times: list[tuple[float, float]] = []
    last: list[Any] = [None, None]
    for which in order:
        for target, value in zip(place, sets[which], strict=True):
            if isinstance(target, torch.Tensor):
                target.copy_(value)
        last[which], *took = _round(launch, place, flush, yard)
        times.append((took[0], took[1]))
    figures = torch.tensor(times[WARM_UP:], dtype=torch.float64, device=DEVICE)
    return torch.cat([_bytes(figures), *(_bytes(out) for out in last)])


def _round(
    launch: Callable[..., Any], args: list[Any], flush: torch.Tensor, yard: torch.Tensor
) -> tuple[Any, float, float]:
    """One call, and its time and that of the copy in milliseconds, both with cold caches."""
    marks = [_event(enable_timing=True) for _ in range(4)]
    _synchronize()
    _sleep(LEAD_CYCLES)
    flush.zero_()
    marks[0].record()
    out = launch(*args)
    marks[1].record()
    flush.zero_()
    marks[2].record()
    yard[1].copy_(yard[0])
    marks[3].record()
    _synchronize()
    return out, marks[0].elapsed_time(marks[1]), marks[2].elapsed_time(marks[3])


def _like(arg: Any) -> Any:
    """Memory of the same layout; a number is itself."""
    if not isinstance(arg, torch.Tensor):
        return arg
    return torch.empty_strided(arg.shape, arg.stride(), dtype=arg.dtype, device=arg.device)


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().view(-1).view(torch.uint8)
