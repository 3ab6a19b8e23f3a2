"""The simulated GPUs: what they must forgive and what not, and that nothing is left to chance."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from triton_util.bench import simulated

NAMES = [model.name for model in simulated.MODELS]


def by_events(
    warm_up: int = 50,
    runs: int = 51,
    take: Callable[[Sequence[float]], float] = statistics.median,
    flush: bool = True,
    fresh: bool = True,
    flush_first: bool = False,
) -> simulated.Stopwatch:
    """A stopwatch by events; by default a fair one."""

    def stopwatch(run: Any, fresh_inputs: Any, gpu: simulated.SimulatedGpu) -> float:
        for _ in range(warm_up):
            run(*fresh_inputs())
        inputs, pairs = fresh_inputs(), []
        for _ in range(runs):
            if flush and flush_first:
                gpu.flush_l2()
            if fresh:
                inputs = fresh_inputs()
            if flush and not flush_first:
                gpu.flush_l2()
            start = gpu.record()
            run(*inputs)
            pairs.append((start, gpu.record()))
        gpu.synchronize()
        return take([end.ms - start.ms for start, end in pairs])

    return stopwatch


def launch_only(run: Any, fresh_inputs: Any, gpu: simulated.SimulatedGpu) -> float:
    """The host's clock before and after one launch."""
    inputs = fresh_inputs()
    start = gpu.clock()
    run(*inputs)
    return gpu.clock() - start


def one_by_one(run: Any, fresh_inputs: Any, gpu: simulated.SimulatedGpu) -> float:
    """The host's clock around a launch and a wait, after a warm-up; the median of many."""
    times = []
    for _ in range(101):
        inputs = fresh_inputs()
        gpu.flush_l2()
        gpu.synchronize()
        start = gpu.clock()
        run(*inputs)
        gpu.synchronize()
        times.append(gpu.clock() - start)
    return statistics.median(times[50:])


def mean_of_a_loop(run: Any, fresh_inputs: Any, gpu: simulated.SimulatedGpu) -> float:
    """One wait after a hundred launches with the same inputs."""
    inputs = fresh_inputs()
    gpu.synchronize()
    start = gpu.clock()
    for _ in range(100):
        run(*inputs)
    gpu.synchronize()
    return (gpu.clock() - start) / 100


WRONG = {
    "the launch alone": (launch_only, {"asynchronous", "compiling", "coarse", "short"}),
    "one wait per launch": (one_by_one, {"coarse", "short"}),
    "a loop over the same inputs": (
        mean_of_a_loop,
        {"compiling", "remembering", "sleepy", "fond of zeros", "short"},
    ),
    "no warm-up": (by_events(warm_up=0), {"sleepy"}),
    "one run, no warm-up": (by_events(warm_up=0, runs=1), {"compiling", "sleepy"}),
    "the mean": (by_events(take=statistics.mean), {"disturbed"}),
    "the best": (by_events(take=min), {"disturbed"}),
    "a warm cache": (by_events(flush=False), {"remembering"}),
    "inputs after the flush": (by_events(flush_first=True), {"remembering"}),
    "inputs used again": (by_events(fresh=False), {"fond of zeros"}),
    "thousands of runs": (by_events(runs=3000), {"hot-headed"}),
}


def fallen_for(stopwatch: simulated.Stopwatch) -> set[str]:
    tried = [simulated.attempt(stopwatch, model) for model in simulated.MODELS]
    assert not [attempt.error for attempt in tried if attempt.error]
    return {attempt.model.name for attempt in tried if not attempt.holds}


@pytest.mark.parametrize("name", list(WRONG))
def test_each_bad_habit_is_wrong_where_it_should_be(name: str) -> None:
    stopwatch, traps = WRONG[name]
    assert traps <= fallen_for(stopwatch)


def test_each_trap_catches_a_habit() -> None:
    assert set(NAMES) == set().union(*(traps for _, traps in WRONG.values()))


def test_a_fair_stopwatch_falls_for_none() -> None:
    assert fallen_for(by_events()) == set()


def test_the_factors_that_the_lesson_names() -> None:
    def factor(stopwatch: simulated.Stopwatch, name: str) -> float:
        model = simulated.MODELS[NAMES.index(name)]
        return simulated.attempt(stopwatch, model).factor

    assert factor(launch_only, "asynchronous") == pytest.approx(1 / 30, rel=0.1)
    assert factor(by_events(runs=3000), "hot-headed") == pytest.approx(1.12, abs=0.01)


def test_equal_seeds_give_equal_times_and_others_do_not() -> None:
    model = simulated.MODELS[NAMES.index("disturbed")]
    first, again, other = (simulated.attempt(by_events(), model, seed) for seed in (1, 1, 2))
    assert first == again
    assert first.measured_ms != other.measured_ms
    assert simulated.models(0) == simulated.MODELS
    assert [m.kernel_ms for m in simulated.models(3)] != [m.kernel_ms for m in simulated.MODELS]


def test_an_event_cannot_be_read_before_it_has_happened() -> None:
    gpu = simulated.SimulatedGpu(simulated.MODELS[0])
    gpu.run(*gpu.fresh_inputs())
    event = gpu.record()
    with pytest.raises(simulated.StopwatchError, match="synchronize"):
        print(event.ms)
    gpu.synchronize()
    assert event.ms > 0


def test_a_stopwatch_without_an_end_is_stopped() -> None:
    def for_ever(run: Any, fresh_inputs: Any, gpu: simulated.SimulatedGpu) -> float:
        while True:
            gpu.clock()

    tried = simulated.attempt(for_ever, simulated.MODELS[0])
    assert "no end" in tried.error
    assert not tried.holds


def test_the_table_says_what_went_wrong() -> None:
    text = simulated.table(launch_only)
    assert "WRONG  A launch returns at once" in text
    assert text.endswith("of 9 GPUs")
    assert "not a number" in simulated.table(lambda run, fresh_inputs, gpu: None)  # type: ignore
