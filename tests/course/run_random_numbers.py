"""Compares the reference with `tl.rand`, in Triton's own interpreter and in the course's engine.

Run in a process in which triton interprets; prints a line of JSON for each comparison.
"""

from __future__ import annotations

import json
from contextlib import nullcontext

import torch
import triton
import triton.language as tl

from graders.course.randomness.reference import random_words, uniform
from triton_util.interpreter import EngineOptions, interpret

COUNT = 2048
SEEDS = (0, 1, 7, 2**31, 2**32 - 1, 2**40 + 5, 2**63 - 1)
FIRSTS = (0, 5000, 2**31 - 1000, 2**33)


@triton.jit
def numbers_kernel(numbers_ptr, integers_ptr, seed, first, COUNT: tl.constexpr):
    lanes = tl.arange(0, COUNT)
    counters = first + lanes.to(tl.int64)
    tl.store(numbers_ptr + lanes, tl.rand(seed, counters))
    for word in tl.static_range(4):
        tl.store(integers_ptr + word * COUNT + lanes, tl.randint4x(seed, counters)[word])


def compared(engine: bool, seed: int, first: int) -> dict[str, object]:
    numbers, integers = torch.empty(COUNT), torch.empty((4, COUNT), dtype=torch.int32)
    with interpret(EngineOptions()) if engine else nullcontext():
        numbers_kernel[(1,)](numbers, integers, seed, first, COUNT=COUNT)
    counters = first + torch.arange(COUNT)
    words = torch.stack(random_words(seed, counters))
    return {
        "engine": engine,
        "seed": seed,
        "first": first,
        "numbers": torch.equal(numbers, uniform(seed, counters)),
        "integers": torch.equal(integers.long() % 2**32, words),
    }


if __name__ == "__main__":
    for engine in (False, True):
        for seed in SEEDS:
            for first in FIRSTS:
                print(json.dumps(compared(engine, seed, first)))
