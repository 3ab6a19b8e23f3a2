"""Medians with confidence intervals, without assumptions on the distribution of the times.

Times of a kernel are skewed: they have a floor and a long tail. So the centre is the median, the
spread is that of the middle half, and the interval comes from the ranks of the samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A median and its interval of `CONFIDENCE`, in the samples' unit."""

    low: float
    middle: float
    high: float

    @property
    def relative_width(self) -> float:
        """Half the width of the interval as a fraction of its middle; infinite if unknown."""
        if self.middle == 0 or math.isinf(self.low) or math.isinf(self.high):
            return math.inf
        return (self.high - self.low) / 2 / abs(self.middle)


def median_interval(samples: Sequence[float]) -> Interval:
    """The median of the samples with its confidence interval.

    Each sample is below the true median with probability one half, so the number of such samples
    is binomial: the k-th smallest and the k-th largest sample enclose the median with probability
    1 - 2 P(B < k). With fewer than six samples no k gives 95 %, and the interval is infinite.

    Raises:
    ValueError: if there is no sample.
    """
    if not samples:
        raise ValueError("a median needs at least one sample")
    ordered = sorted(samples)
    outside = _ranks_outside(len(ordered))
    if outside == 0:
        return Interval(-math.inf, median(ordered), math.inf)
    return Interval(ordered[outside - 1], median(ordered), ordered[-outside])


def _ranks_outside(count: int) -> int:
    """The largest k such that the k-th smallest and k-th largest still enclose the median."""
    below, k = 0.0, 0
    while k < count // 2:
        below += math.comb(count, k) / 2**count
        if 2 * below > 1 - CONFIDENCE:
            break
        k += 1
    return k


def ratio_interval(samples: Sequence[float], baseline: Sequence[float]) -> Interval:
    """The factor by which the samples are slower than the baseline, round by round.

    Both must come from the same rounds, in order: a disturbance of a round (heat, clocks)
    affects both, and cancels in the ratio. More than 1 means slower than the baseline.

    Raises:
    ValueError: if the two have different numbers of samples, or none.
    """
    if len(samples) != len(baseline):
        raise ValueError(f"{len(samples)} samples cannot be paired with {len(baseline)}")
    return median_interval([mine / theirs for mine, theirs in zip(samples, baseline, strict=True)])


def middle_half(samples: Sequence[float]) -> float:
    """The spread: the third quartile minus the first; 0 for a single sample."""
    if len(samples) == 1:
        return 0.0
    first, _, third = quantiles(samples, n=4, method="inclusive")
    return third - first
