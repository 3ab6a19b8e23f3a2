"""`compare` with a stopwatch that the test winds: what it believes, refuses, and tells apart."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from triton_util.bench import Clock, GpuState, Measurement, NoGpuError, TimingPlan, compare
from triton_util.bench.clock import CudaClock


@dataclass
class Answer:
    """What a contender of these tests returns: a value, and what it pretends to have taken."""

    value: Any
    ms: float
    host_ms: float | None = None


@dataclass
class FakeClock:
    """Adds noise and heat to the time that an answer carries."""

    noise: float = 0.0
    heat_per_call: float = 0.0
    first_call_ms: float = 0.0
    states: list[GpuState] = field(default_factory=list)
    calls: int = 0

    def __post_init__(self) -> None:
        self.source = random.Random(7)

    def time(self, call: Callable[[], Any]) -> Measurement:
        answer = call()
        factor = (1 + self.heat_per_call * self.calls) * (1 + self.source.gauss(0, self.noise))
        extra = self.first_call_ms if self.calls < 2 else 0.0
        self.calls += 1
        event_ms = answer.ms * factor + extra
        host_ms = answer.host_ms if answer.host_ms is not None else event_ms + 0.05
        return Measurement(answer.value, event_ms, host_ms)

    def state(self) -> GpuState | None:
        return self.states.pop(0) if self.states else None


def doubling(ms: float) -> Callable[[int], Answer]:
    return lambda x: Answer(2 * x, ms)


def is_double(args: tuple[Any, ...], output: Any) -> str:
    return "" if output == 2 * args[0] else f"{output} is not the double of {args[0]}"


def numbered(seed: int) -> tuple[int]:
    return (seed,)


QUICK = TimingPlan(min_rounds=20, max_rounds=60, precision=0.004)


def test_a_slow_down_of_a_fifth_is_told_apart_every_time() -> None:
    for seed in range(20):
        clock = FakeClock(noise=0.03, heat_per_call=0.0005)
        honest, slow = compare(
            {"honest": doubling(1.0), "slow": doubling(1.2)},
            numbered,
            check=is_double,
            plan=TimingPlan(min_rounds=15, max_rounds=60, seed=seed),
            clock=clock,
        )
        interval = slow.slower_than(honest)
        assert interval.low > 1.1, seed
        assert interval.high < 1.3, seed


def test_the_same_contender_twice_differs_by_less_than_three_percent() -> None:
    for seed in range(20):
        once, again = compare(
            {"once": doubling(1.0), "again": doubling(1.0)},
            numbered,
            plan=TimingPlan(min_rounds=15, max_rounds=100, seed=seed),
            clock=FakeClock(noise=0.03, heat_per_call=0.0005),
        )
        assert abs(again.median_ms / once.median_ms - 1) < 0.03
        interval = again.slower_than(once)
        assert interval.low < 1.0 < interval.high or interval.relative_width < 0.02


def test_inputs_are_new_in_every_round_and_order_changes() -> None:
    seen: list[tuple[str, int]] = []

    def noting(label: str) -> Callable[[int], Answer]:
        def call(x: int) -> Answer:
            seen.append((label, x))
            return Answer(2 * x, 1.0)

        return call

    contenders = {label: noting(label) for label in "abc"}
    compare(contenders, numbered, plan=TimingPlan(min_rounds=20, max_rounds=20), clock=FakeClock())
    numbers = [number for label, number in seen if label == "a"]
    assert len(set(numbers)) == len(numbers) == 23, "20 rounds and 3 of warming up"
    firsts = [label for label, number in seen if number >= 0][::3]
    assert set(firsts) == set("abc")


def test_warm_up_does_not_count() -> None:
    (timing,) = compare({"it": doubling(1.0)}, numbered, clock=FakeClock(first_call_ms=500.0))
    assert max(timing.samples) == 1.0


def test_a_contender_that_remembers_the_first_answer_is_caught() -> None:
    memory: list[int] = []

    def caching(x: int) -> Answer:
        memory.append(2 * x)
        return Answer(memory[0], 0.001)

    honest, cheat = compare(
        {"honest": doubling(1.0), "cheat": caching}, numbered, check=is_double, clock=FakeClock()
    )
    assert honest.believed
    assert not cheat.believed
    assert "its output is wrong" in cheat.problems[0]


def test_an_error_is_a_result_and_ends_only_that_contender() -> None:
    def failing(x: int) -> Answer:
        raise RuntimeError("out of memory")

    honest, broken = compare(
        {"honest": doubling(1.0), "broken": failing}, numbered, clock=FakeClock()
    )
    assert honest.believed
    assert honest.samples
    assert not broken.samples
    assert "RuntimeError: out of memory" in broken.problems[0]
    assert "not timed" in str(broken)


def test_faster_than_the_hardware_is_not_believed() -> None:
    honest, forged = compare(
        {"honest": doubling(1.0), "forged": doubling(0.3)},
        numbered,
        floor_ms=0.5,
        clock=FakeClock(),
    )
    assert honest.believed
    assert not forged.believed
    assert "hardware" in forged.problems[0]


@pytest.mark.parametrize(
    ("event_ms", "host_ms", "word"),
    [(0.1, 5.0, "elsewhere"), (5.0, 1.0, "all was over")],
    ids=["work on another stream", "events that lie"],
)
def test_the_clock_of_the_host_must_agree(event_ms: float, host_ms: float, word: str) -> None:
    (timing,) = compare(
        {"it": lambda x: Answer(2 * x, event_ms, host_ms)}, numbered, clock=FakeClock()
    )
    assert not timing.believed
    assert word in timing.problems[0]


def test_stops_when_precise_and_else_says_so() -> None:
    (quick,) = compare({"it": doubling(1.0)}, numbered, plan=QUICK, clock=FakeClock())
    assert len(quick.samples) == QUICK.min_rounds
    assert not quick.notes
    (noisy,) = compare({"it": doubling(1.0)}, numbered, plan=QUICK, clock=FakeClock(noise=0.2))
    assert len(noisy.samples) == QUICK.max_rounds
    assert "not every median is known" in noisy.notes[0]


def test_patience_ends() -> None:
    plan = TimingPlan(min_rounds=10, max_rounds=10**6, max_seconds=0.05, precision=0.0)
    (timing,) = compare({"it": doubling(1.0)}, numbered, plan=plan, clock=FakeClock(noise=0.2))
    assert 0 < len(timing.samples) < 10**6


def test_throttling_is_noted_with_its_share() -> None:
    cool = GpuState(1980, 40)
    hot = GpuState(1200, 86, ("thermal limit",))
    clock = FakeClock(states=[cool, hot, hot, cool])
    plan = TimingPlan(min_rounds=10, max_rounds=10)
    (timing,) = compare({"it": doubling(1.0)}, numbered, plan=plan, clock=clock)
    assert timing.believed
    assert timing.notes == ("the GPU was slowed by its thermal limit in 50% of rounds",)
    assert timing.states[1].celsius == 86


def test_each_label_can_have_its_own_check() -> None:
    first, second = compare(
        {"double": doubling(1.0), "copy": lambda x: Answer(x, 1.0)},
        numbered,
        check={"double": is_double},
        clock=FakeClock(),
    )
    assert first.believed
    assert second.believed


def test_without_a_gpu_nothing_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(NoGpuError, match="no CUDA GPU"):
        compare({"it": doubling(1.0)}, numbered)


def test_the_clocks_keep_their_contract() -> None:
    fake: Clock = FakeClock()
    assert isinstance(fake.time(lambda: Answer(1, 1.0)), Measurement)
    assert callable(CudaClock.time)
    assert callable(CudaClock.state)
