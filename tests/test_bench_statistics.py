"""Medians, their intervals and the paired ratio, against what is known to be true."""

from __future__ import annotations

import math
import random

import pytest

from triton_util.bench.statistics import median_interval, middle_half, ratio_interval


def test_interval_holds_the_true_median_as_often_as_it_says() -> None:
    source = random.Random(0)
    trials, inside = 1000, 0
    for _ in range(trials):
        # Skewed as times are: a floor and a long tail. The median of exp is ln 2.
        interval = median_interval([1.0 + source.expovariate(1.0) for _ in range(25)])
        inside += interval.low <= 1.0 + math.log(2) <= interval.high
    assert inside / trials >= 0.94


@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_samples_give_no_interval(count: int) -> None:
    interval = median_interval([1.0] * count)
    assert interval.middle == 1.0
    assert math.isinf(interval.high)
    assert math.isinf(interval.relative_width)


def test_interval_of_six_is_the_whole_range() -> None:
    # P(all six on one side) = 2 / 64 < 5 %; leaving one out on each side would be 22 %.
    interval = median_interval([6.0, 1.0, 3.0, 2.0, 5.0, 4.0])
    assert (interval.low, interval.middle, interval.high) == (1.0, 3.5, 6.0)
    assert interval.relative_width == pytest.approx(2.5 / 3.5)


def test_no_samples_are_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        median_interval([])


def test_ratio_cancels_what_disturbed_the_round() -> None:
    heat = [1.0 + 0.02 * i for i in range(40)]
    baseline = [2.0 * factor for factor in heat]
    slower = [2.2 * factor for factor in heat]
    interval = ratio_interval(slower, baseline)
    assert interval.low == pytest.approx(1.1)
    assert interval.high == pytest.approx(1.1)


def test_ratio_needs_pairs() -> None:
    with pytest.raises(ValueError, match="cannot be paired"):
        ratio_interval([1.0, 2.0], [1.0])


def test_middle_half_is_the_distance_of_the_quartiles() -> None:
    assert middle_half([1.0, 2.0, 3.0, 4.0, 5.0]) == 2.0
    assert middle_half([3.0]) == 0.0
    assert middle_half([1.0, 2.0]) == 0.5
