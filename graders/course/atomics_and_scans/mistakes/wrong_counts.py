"""Histograms that count other elements, in other bins, or not all of them."""

from __future__ import annotations

import torch

from graders.course.atomics_and_scans.reference import histogram
from graders.course.common.detectors import has_fault
from graders.course.common.strays import has_left
from graders.judge.diagnosis.matching import looks_like
from graders.judge.records import Evidence

Counts = torch.Tensor
Found = list[torch.Tensor]
MOST_COUNTERS = 1 << 20  # of all lanes together

OUTSIDE = frozenset({"out-of-bounds-atomic", "out-of-bounds-store", "out-of-bounds-load"})
ATOMIC_OUTSIDE = frozenset({"out-of-bounds-atomic", "out-of-bounds-store"})
STORED_TWICE = frozenset({"write-race", "order-dependent"})
LOADED_TOO = frozenset({"read-write-race"})
SHORT = (torch.int8, torch.int16, torch.int32)
FIXED = tuple(2**power for power in range(3, 13))  # numbers of bins that a launcher may write down


def _has_outside(x: torch.Tensor, n_bins: int) -> bool:
    return not bool(_inside(x, n_bins).all())


def _inside(x: torch.Tensor, n_bins: int) -> torch.Tensor:
    """Which numbers have a bin. In the dtype of x the bound might lose its upper bits."""
    numbers = x.to(torch.int64)
    return (numbers >= 0) & (numbers < n_bins)


def _next_power(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


def clamped(x: torch.Tensor, n_bins: int) -> Found:
    """What lies outside counts in the first or in the last bin, below, above, or both."""
    numbers = x.to(torch.int64)
    below, above = numbers < 0, numbers >= n_bins
    first, last = torch.zeros_like(numbers), torch.full_like(numbers, n_bins - 1)
    moved = (
        numbers.clamp(0, n_bins - 1),
        torch.where(below, first, numbers),
        torch.where(above, last, numbers),
        torch.where(below | above, first, numbers),
        torch.where(below | above, last, numbers),
        torch.where(above, first, numbers),
    )
    return [histogram(where, n_bins) for where in moved]


def wrapped(x: torch.Tensor, n_bins: int) -> Found:
    """What lies outside counts in the bin of its remainder, of all or of those below or above."""
    numbers = x.to(torch.int64)
    floored, towards_zero = numbers % n_bins, numbers.fmod(n_bins)
    moved = [
        floored,
        towards_zero,
        torch.where(numbers < 0, numbers, floored),
        torch.where(numbers < 0, numbers + n_bins, numbers),
        numbers & (_next_power(n_bins) - 1),
    ]
    return [histogram(where, n_bins) for where in moved]


def without_sign(x: torch.Tensor, n_bins: int) -> Counts:
    """Numbers below 0 count as their absolute value."""
    return histogram(x.to(torch.int64).abs(), n_bins)


def narrowed(x: torch.Tensor, n_bins: int) -> Found:
    """The numbers have lost what is beyond 32, 16 or 8 bits."""
    return [histogram(x.to(short), n_bins) for short in SHORT if short.itemsize < x.itemsize]


def bound_in_dtype_of_numbers(x: torch.Tensor, n_bins: int) -> Found:
    """The bound has lost its upper bits: n_bins, or the number of the last bin."""
    numbers = x.to(torch.int64)
    bounds = [torch.tensor(n_bins).to(x.dtype), torch.tensor(n_bins - 1).to(x.dtype) + 1]
    kept = [histogram(numbers[numbers < bound], n_bins) for bound in map(int, bounds)]
    return kept if n_bins > torch.iinfo(x.dtype).max else []


def padding_counted(block: int, x: torch.Tensor, n_bins: int) -> Found:
    """The lanes past the end count, in bin 0, as the last element, or as -1 without a sign."""
    missing = -x.numel() % block
    if not missing or not n_bins:
        return []
    extra = [torch.tensor([other]).to(x.dtype).expand(missing) for other in (0, -1)]
    extra += [x[-1:].expand(missing)] if x.numel() else []
    return [histogram(torch.cat([x, more]), n_bins) for more in extra]


def wrapped_elements(block: int, x: torch.Tensor, n_bins: int) -> Counts | None:
    """The lanes past the end count the first elements once more."""
    missing, n = -x.numel() % block, x.numel()
    if not missing or not n:
        return None
    return histogram(x[torch.arange(n + missing) % n], n_bins)


def last_block_stored(block: int, x: torch.Tensor, n_bins: int) -> Counts | None:
    """The counts of the last block alone."""
    n = x.numel()
    return histogram(x[(n - 1) // block * block :], n_bins) if n > block else None


def overwritten(evidence: Evidence) -> bool:
    """Tell whether programs store different counts in one place, and load none."""
    return has_fault(evidence, STORED_TWICE) and not has_fault(evidence, LOADED_TOO)


def left_from_before(evidence: Evidence) -> bool:
    """Tell whether counts are off by what stood in their memory before: the judge's poison."""
    if evidence.actual is None:
        return False
    off = evidence.actual.to(torch.int64) - evidence.expected.to(torch.int64)
    return bool((off.abs() > 2**30).any())


def lanes_lost(block: int, x: torch.Tensor, n_bins: int) -> Counts:
    """Of equal numbers in one block one alone is counted."""
    blocks = torch.arange(x.numel()) // block
    once = torch.unique((blocks * n_bins + x.to(torch.int64))[_inside(x, n_bins)])
    return histogram(once % max(1, n_bins), n_bins)


def seen(x: torch.Tensor, n_bins: int) -> Counts:
    """1 where a number is there, however often."""
    return histogram(x, n_bins).clamp(max=1)


def first_block_repeated(block: int, x: torch.Tensor, n_bins: int) -> Counts | None:
    """Every program counts the first block."""
    programs = -(-x.numel() // block)
    if programs < 2:
        return None
    return programs * histogram(x[:block], n_bins)


def moved_by_one(x: torch.Tensor, n_bins: int) -> Found:
    """Each number counts in the bin before or behind its own."""
    return [histogram(x.to(torch.int64) + by, n_bins) for by in (-1, 1)]


def summed(x: torch.Tensor, n_bins: int) -> Found:
    """The numbers are added up in place of ones."""
    values = torch.arange(n_bins)
    return [histogram(x, n_bins) * (values + more) for more in (0, 1)]


def running(x: torch.Tensor, n_bins: int) -> Found:
    """How many numbers are at most so large, or smaller: not how many are equal."""
    counts = histogram(x, n_bins)
    upwards = counts.cumsum(0)
    return [upwards, upwards - counts, counts.flip(0).cumsum(0).flip(0)]


def counted_repeatedly(x: torch.Tensor, n_bins: int) -> Found:
    """Every number counts several times: each lane of a block adds, or each program."""
    return [histogram(x, n_bins) * times for times in (2, 3, 4, 8, 16, 32, 64)]


def bins_left_out(x: torch.Tensor, n_bins: int) -> Found:
    """Only so many bins are looked at; or the first or the last one is not."""
    counts, bins = histogram(x, n_bins), torch.arange(n_bins)
    parts = [bins < most for most in FIXED if most < n_bins]
    parts += [bins < n_bins - 1, bins > 0]
    return [counts * part for part in parts]


def in_short_integers(x: torch.Tensor, n_bins: int) -> Found:
    """Counts that are kept in 8 or 16 bits, with a sign or without one."""
    counts = histogram(x, n_bins)
    return [counts.to(short).to(counts.dtype) for short in (torch.int8, torch.uint8, torch.int16)]


def lanes_in_short_integers(block: int, x: torch.Tensor, n_bins: int) -> Found:
    """The same where each lane of a program that passes over all of x counts by itself."""
    if block * n_bins > MOST_COUNTERS or not 1 < block < x.numel():
        return []
    lanes = torch.arange(x.numel()) % block
    counters = (x.to(torch.int64) * block + lanes)[_inside(x, n_bins)]
    counts = torch.bincount(counters, minlength=n_bins * block).reshape(n_bins, block)
    shorts = (torch.int8, torch.uint8)
    return [counts.to(short).to(counts.dtype).sum(dim=1) for short in shorts]


def in_short_floats(x: torch.Tensor, n_bins: int) -> Found:
    """Counts that stop where adding 1 no longer shows in 16 bits: at 2048, or at 256."""
    counts = histogram(x, n_bins)
    return [counts.clamp(max=2048), counts.clamp(max=256)]


def ends_early(evidence: Evidence) -> bool:
    """Tell whether these are the counts of the first elements alone: a grid that is too short.

    Where all numbers are equal any count that is too small looks like that.
    """
    x, n_bins = evidence.args
    if evidence.actual is None or int((evidence.expected > 0).sum()) < 2:
        return False
    found = _inside(x, n_bins).cumsum(0)
    total = int(evidence.actual.sum())
    if not 0 < total < int(found[-1]):
        return False
    return looks_like(evidence, histogram(x[: int((found <= total).sum())], n_bins))


def number_outside(evidence: Evidence) -> bool:
    """Tell whether an atomic (or a store) left the counts where some number has no bin."""
    x, n_bins = evidence.args
    return _has_outside(x, n_bins) and has_left(evidence, evidence.expected, OUTSIDE)


def negative_outside(evidence: Evidence) -> bool:
    """Tell whether it left them before the first bin, and nowhere else."""
    places = [fault.outside for fault in evidence.faults if fault.code in OUTSIDE]
    return number_outside(evidence) and all(seen and seen.lowest < 0 for seen in places)


def bins_outside(evidence: Evidence) -> bool:
    """Tell whether lanes after the last bin, up to a power of two, were added or stored."""
    n_bins = evidence.args[1]
    if n_bins & (n_bins - 1) == 0 or not has_fault(evidence, ATOMIC_OUTSIDE):
        return False
    return not negative_outside(evidence) and has_left(evidence, evidence.expected, OUTSIDE)
