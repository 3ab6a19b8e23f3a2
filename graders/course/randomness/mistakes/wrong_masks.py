"""Dropout whose mask comes from other numbers than those of its elements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import torch

from graders.course.randomness.reference import WORD, Key, elements, random_words, to_unit
from graders.course.randomness.reference import uniform as uniform_numbers
from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import looks_like
from graders.judge.records import Evidence

Found = list[torch.Tensor]
Args = tuple[torch.Tensor, torch.Tensor, float, int]

USUAL_SEEDS = (0, 1, 2, 7, 42, 123, 1234, 1337, 12345)
MOST_LANES = 2**16  # of a tile, that its block sizes may multiply to


@lru_cache(maxsize=16)
def _first_numbers(seed: int, count: int) -> torch.Tensor:
    return uniform_numbers(seed, torch.arange(count))


def uniform(seed: Key, counters: torch.Tensor) -> torch.Tensor:
    """Return what `tl.rand(seed, counters)` gives; looked up where the counters are small."""
    count = 2 * counters.numel()
    small = count > 0 and int(counters.min()) >= 0 and int(counters.max()) < count
    if isinstance(seed, int) and small:
        return _first_numbers(seed, count)[counters]
    return uniform_numbers(seed, counters)


def with_numbers(
    numbers: torch.Tensor, x: torch.Tensor, residual: torch.Tensor, p: float
) -> torch.Tensor:
    """Return what dropout makes of these random numbers, one for each element of x."""
    keep = numbers.reshape(x.shape) >= torch.tensor(p, dtype=numbers.dtype)
    return torch.where(keep, residual + x / (1 - p), residual)


def _each(numbers: Iterator[torch.Tensor], *args: object) -> Found:
    x, residual, p, _ = args
    return [with_numbers(found, x, residual, p) for found in numbers]  # type: ignore[arg-type]


def by_lane(block: int, x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """The counter is the lane, or the lane and the number of the program, added up."""
    if block >= x.numel():
        return []
    i = elements(x)
    counters = (i % block, i % block + i // block)
    return _each((uniform(seed, counter) for counter in counters), x, residual, p, seed)


def by_lane_of_tile(evidence: Evidence) -> bool:
    """Tell whether the counter is the lane of a tile, with the block sizes of the launch."""
    x, residual, p, seed = widened(evidence.args)
    width, count = (x.shape[-1] if x.dim() else 1), x.numel()
    meta = {value for launch in evidence.launches for value in launch.meta.values()}
    sizes = sorted({1, *(size for size in meta if type(size) is int and size > 1)})
    pairs = [(a, b) for a in sizes for b in sizes if 1 < b <= MOST_LANES // a]
    pairs = [(a, b) for a, b in pairs if a > 1 or b < width]  # else it is the column that counts
    i = elements(x)
    for height, breadth in pairs if count else ():
        lanes = i // width % height * breadth + i % width % breadth
        found = uniform(seed, torch.arange(height * breadth))[lanes]
        if looks_like(evidence, with_numbers(found, x, residual, p)):
            return True
    return False


def seed_by_program(
    block: int, x: torch.Tensor, residual: torch.Tensor, p: float, seed: int
) -> Found:
    """The seed moves on from program to program; the counter is the lane, or the element."""
    if block >= x.numel():
        return []
    i = elements(x)
    seeds = seed + i // block
    return _each((uniform(seeds, counter) for counter in (i % block, i)), x, residual, p, seed)


def seed_by_slice(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """The seed moves on from row to row, or from slice to slice."""
    i = elements(x)
    numbers = (
        uniform(seed + i // size, counter) for size in _slices(x) for counter in (i % size, i)
    )
    return _each(numbers, x, residual, p, seed)


def _slices(x: torch.Tensor) -> list[int]:
    """How many elements a row has, a slice of the last two axes, and so on."""
    sizes = {math.prod(x.shape[axis:]) for axis in range(1, x.dim())}
    return sorted(size for size in sizes if 0 < size < x.numel())


def by_place_in_slice(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """The counter starts again in each row, or in each slice."""
    i = elements(x)
    return _each((uniform(seed, i % size) for size in _slices(x)), x, residual, p, seed)


def one_for_block(
    block: int, x: torch.Tensor, residual: torch.Tensor, p: float, seed: int
) -> Found:
    """One number for each program: that of the program, or that of its first element."""
    if not 1 < block < x.numel():
        return []
    programs = elements(x) // block
    counters = (programs, programs * block)
    return _each((uniform(seed, counter) for counter in counters), x, residual, p, seed)


def one_for_slice(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """One number for each row, for each slice, or for all."""
    i = elements(x)
    slices = [i // size for size in _slices(x)]
    firsts = [i // size * size for size in _slices(x)]
    counters = [i * 0, *slices, *firsts]
    return _each((uniform(seed, counter) for counter in counters), x, residual, p, seed)


def by_address(*args: object) -> Found:
    """The counter is where the element lies in memory, in x or in the residual."""
    tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
    x, residual, p, seed = widened(args)
    numbers = (uniform(seed, _places(tensor)) for tensor in tensors if not tensor.is_contiguous())
    return _each(numbers, x, residual, p, seed)


def _places(x: torch.Tensor) -> torch.Tensor:
    """How far from the first element each one lies in memory."""
    places = torch.zeros(x.shape, dtype=torch.int64)
    for axis, (size, stride) in enumerate(zip(x.shape, x.stride(), strict=True)):
        along = [1] * x.dim()
        along[axis] = size
        places = places + (torch.arange(size) * stride).reshape(along)
    return places


def in_another_order(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """The elements are counted along the columns, or with the wrong length of a row."""
    if x.dim() < 2 or not x.numel():
        return []
    width = x.shape[-1]
    height = x.numel() // width
    row, column = elements(x) // width, elements(x) % width
    first_axis_first = elements(x.permute(*reversed(range(x.dim()))))
    counters = (
        column * height + row,
        row * height + column,
        column * width + row,
        first_axis_first.permute(*reversed(range(x.dim()))),
    )
    return _each((uniform(seed, counter) for counter in counters), x, residual, p, seed)


def of_fixed_seed(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """The seed is a constant."""
    others = (other for other in USUAL_SEEDS if other != seed)
    return _each((uniform(other, elements(x)) for other in others), x, residual, p, seed)


def of_short_seed(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """The seed has lost what is beyond 32 bits, or beyond 31."""
    low = seed & WORD
    shorter = {low, low & (WORD >> 1), low - 2**32 if low > WORD >> 1 else low} - {seed}
    return _each((uniform(s, elements(x)) for s in sorted(shorter)), x, residual, p, seed)


def of_seed_as_counter(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """The seed takes the place of the counter."""
    return _each(iter([uniform(elements(x), _all(seed, x))]), x, residual, p, seed)


def _all(seed: int, x: torch.Tensor) -> torch.Tensor:
    return torch.full(x.shape, seed, dtype=torch.int64)


def of_moved_counter(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """The seed is added to the counter, or multiplied with it; or the counter begins with 1."""
    i = elements(x)
    pairs: tuple[tuple[Key, torch.Tensor], ...] = (
        *((key, seed + i) for key in (0, seed, 42)),
        (0, seed * i),
        (seed, i + 1),
    )
    return _each((uniform(key, counter) for key, counter in pairs), x, residual, p, seed)


def of_other_words(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """Four neighbours share a counter, or another word than the first one is taken."""
    i = elements(x)
    mine, shared = random_words(seed, i), random_words(seed, i // 4)
    picked = [sum(word * (i % 4 == n) for n, word in enumerate(four)) for four in (shared, mine)]
    return _each((to_unit(word) for word in (*picked, *mine[1:])), x, residual, p, seed)  # type: ignore[arg-type]


def of_other_rounds(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """Philox with more or fewer rounds than ten."""
    numbers = (to_unit(random_words(seed, elements(x), n)[0]) for n in (4, 5, 6, 7, 8, 9, 12, 16))
    return _each(numbers, x, residual, p, seed)


def of_integers(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """The numbers of `tl.randint`, as they are or divided by how many there are."""
    words = random_words(seed, elements(x))[0].double()
    signed = torch.where(words > WORD // 2, words - 2.0**32, words)
    numbers = (signed, words, signed / 2.0**31, signed / 2.0**32, words / 2.0**32)
    return _each(iter((*numbers, signed.abs() / 2.0**31)), x, residual, p, seed)


def of_normal_numbers(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """The numbers of `tl.randn`, as they are or their sizes."""
    words = random_words(seed, elements(x))
    first, second = (to_unit(word).double() for word in words[:2])
    radius = torch.sqrt(-2 * torch.log(first.clamp(min=1e-7)))
    normal = radius * torch.cos(2 * math.pi * second)
    return _each(iter((normal, normal.abs())), x, residual, p, seed)


def in_half(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """The number is rounded to 16 bits before it is compared with p, and p as well or not."""
    halves = (torch.float16, torch.bfloat16)
    rounded = [uniform(seed, elements(x)).to(half) for half in halves]
    return _each(iter((*rounded, *(number.float() for number in rounded))), x, residual, p, seed)
