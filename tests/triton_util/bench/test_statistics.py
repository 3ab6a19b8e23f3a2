"""Medians, their intervals and the paired ratio, against what is known to be true."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


TIMES = st.lists(st.floats(1e-3, 1e4), min_size=6, max_size=60)


@given(TIMES, st.randoms())
def test_the_order_of_samples_does_not_matter(samples: list[float], chance: random.Random) -> None:
    shuffled = chance.sample(samples, len(samples))
    assert median_interval(shuffled) == median_interval(samples)
    assert middle_half(shuffled) == middle_half(samples)


@given(TIMES)
def test_the_interval_holds_the_median_and_lies_among_the_samples(samples: list[float]) -> None:
    interval = median_interval(samples)
    assert min(samples) <= interval.low <= interval.middle <= interval.high <= max(samples)
    assert 0 <= middle_half(samples) <= max(samples) - min(samples)


@given(TIMES, st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_another_unit_changes_nothing_else(samples: list[float], factor: float) -> None:
    plain, scaled = median_interval(samples), median_interval([factor * x for x in samples])
    assert scaled.middle == pytest.approx(factor * plain.middle)
    assert scaled.relative_width == pytest.approx(plain.relative_width)


@given(TIMES, st.floats(0.5, 2.0))
def test_a_constant_factor_is_found_exactly(samples: list[float], factor: float) -> None:
    interval = ratio_interval([factor * x for x in samples], samples)
    assert interval.low == pytest.approx(factor)
    assert interval.high == pytest.approx(factor)


@given(TIMES, st.floats(1e5, 1e7))
def test_one_outlier_moves_no_median_beyond_its_neighbours(
    samples: list[float], outlier: float
) -> None:
    ordered = sorted(samples)
    disturbed = median_interval([*samples, outlier])
    assert disturbed.middle <= ordered[(len(ordered) + 1) // 2]
