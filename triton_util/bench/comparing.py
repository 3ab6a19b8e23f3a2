"""Time several ways to compute one thing against one another, in one run.

Each round makes new inputs, runs every contender once on them in shuffled order, and checks
every result. Rounds continue until all medians are precise enough, or until the plan's limits
are reached. Doubtful times are not corrected; the reason for the doubt is reported beside them.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from triton_util.bench.clock import Clock, CudaClock, GpuState
from triton_util.bench.statistics import (
    Interval,
    median_interval,
    middle_half,
    ratio_interval,
)

Contender = Callable[..., Any]
# check(args, output) returns "" if the output is correct, else what is wrong.
Check = Callable[[tuple[Any, ...], Any], str]


@dataclass(frozen=True)
class TimingPlan:
    """How long a run continues.

    A run ends when the interval of every median is narrower than ± `precision`, but not before
    `min_rounds`; after `max_rounds` or `max_seconds` it always ends.
    """

    warm_up: int = 3
    min_rounds: int = 10
    max_rounds: int = 100
    max_seconds: float = 30.0
    precision: float = 0.005
    # The most that launching and waiting may add to the host's time over that of the events.
    host_overhead_ms: float = 0.5
    seed: int = 0


@dataclass(frozen=True)
class Timing:
    """The timed calls of a contender, in milliseconds.

    `problems` says why the times cannot be trusted; it is empty if they can. `notes` says what
    disturbed the run without making it worthless.
    """

    label: str
    samples: tuple[float, ...]
    host_samples: tuple[float, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    states: tuple[GpuState, ...] = field(default=(), repr=False)

    @property
    def believed(self) -> bool:
        """Whether there are no problems with the times."""
        return not self.problems and bool(self.samples)

    @property
    def interval(self) -> Interval:
        """The median with its confidence interval."""
        return median_interval(self.samples)

    @property
    def median_ms(self) -> float:
        """The median of the timed calls."""
        return self.interval.middle

    @property
    def spread_ms(self) -> float:
        """The spread of the middle half of the times."""
        return middle_half(self.samples)

    def slower_than(self, baseline: Timing) -> Interval:
        """The factor by which this is slower than a contender of the same run, round by round."""
        return ratio_interval(self.samples, baseline.samples)

    def __str__(self) -> str:
        """One line: median, interval, rounds, and what is wrong with it."""
        if not self.samples:
            return f"{self.label}: not timed ({'; '.join(self.problems)})"
        interval = self.interval
        doubt = f"  NOT BELIEVED: {'; '.join(self.problems)}" if self.problems else ""
        remark = f"  ({'; '.join(self.notes)})" if self.notes else ""
        return (
            f"{self.label}: {interval.middle:.4f} ms "
            f"[{interval.low:.4f}, {interval.high:.4f}], {len(self.samples)} rounds{remark}{doubt}"
        )


def compare(
    contenders: Mapping[str, Contender],
    make_inputs: Callable[[int], tuple[Any, ...]],
    *,
    check: Check | Mapping[str, Check] | None = None,
    floor_ms: float = 0.0,
    plan: TimingPlan | None = None,
    clock: Clock | None = None,
) -> list[Timing]:
    """Time the contenders against one another, and return their timings in the given order.

    Args:
    contenders: what to time, by label. Each is called with the inputs of the round, must
        not change them, and returns its output.
    make_inputs: makes the inputs of a round from a number that differs in each round.
    check: says what is wrong with an output; runs after every timed call, outside its time.
        A mapping gives a check for each label; a label without one is not checked.
    floor_ms: a time below this is impossible on the hardware (see `floor_of`).
    plan: how long to continue.
    clock: the stopwatch; a `CudaClock` unless a test passes its own.

    A contender that raises, or whose output is wrong, is dropped from later rounds; its timing
    says why.

    Raises:
    NoGpuError: if there is no GPU and no clock was given.
    """
    checks = check if isinstance(check, Mapping) else dict.fromkeys(contenders, check)
    run = _Run(dict(contenders), plan or TimingPlan(), clock or CudaClock(), checks, floor_ms)
    run.warm_up(make_inputs)
    run.repeat(make_inputs)
    return run.timings()


class _Run:
    """One comparison under way."""

    def __init__(
        self,
        contenders: dict[str, Contender],
        plan: TimingPlan,
        clock: Clock,
        checks: Mapping[str, Check | None],
        floor_ms: float,
    ) -> None:
        self.contenders = contenders
        self.plan = plan
        self.clock = clock
        self.checks = checks
        self.floor_ms = floor_ms
        self.samples: dict[str, list[float]] = {label: [] for label in contenders}
        self.host_samples: dict[str, list[float]] = {label: [] for label in contenders}
        self.faults: dict[str, str] = {}
        self.states: list[GpuState] = []
        self.shuffler = random.Random(plan.seed)

    def warm_up(self, make_inputs: Callable[[int], tuple[Any, ...]]) -> None:
        """Compile, tune and fill caches; these calls are not counted."""
        for number in range(self.plan.warm_up):
            args = make_inputs(-1 - number)
            for label in list(self._running()):
                self._call(label, args)

    def repeat(self, make_inputs: Callable[[int], tuple[Any, ...]]) -> None:
        """Run rounds until all medians are precise enough or a limit of the plan is reached."""
        end = time.monotonic() + self.plan.max_seconds
        for number in range(self.plan.max_rounds):
            args = make_inputs(number)
            order = list(self._running())
            self.shuffler.shuffle(order)
            for label in order:
                times = self._call(label, args)
                if times is not None:
                    self.samples[label].append(times[0])
                    self.host_samples[label].append(times[1])
            self._read_state()
            enough = number + 1 >= self.plan.min_rounds and self._precise()
            if enough or time.monotonic() > end:
                break

    def timings(self) -> list[Timing]:
        """The timings of all contenders."""
        notes = self._notes()
        return [
            Timing(
                label,
                tuple(self.samples[label]),
                tuple(self.host_samples[label]),
                tuple(self._problems(label)),
                notes,
                tuple(self.states),
            )
            for label in self.contenders
        ]

    def _running(self) -> list[str]:
        return [label for label in self.contenders if label not in self.faults]

    def _call(self, label: str, args: tuple[Any, ...]) -> tuple[float, float] | None:
        """Time one call and check its output; None, and no further calls, if it failed."""
        try:
            measured = self.clock.time(lambda: self.contenders[label](*args))
        except Exception as error:  # a contender's failure is a result, not a fault of ours
            self.faults[label] = f"it raised {type(error).__name__}: {error}"[:300]
            return None
        check = self.checks.get(label)
        complaint = check(args, measured.result) if check else ""
        if complaint:
            self.faults[label] = f"its output is wrong: {complaint}"
            return None
        return measured.event_ms, measured.host_ms

    def _read_state(self) -> None:
        state = self.clock.state()
        if state is not None:
            self.states.append(state)

    def _precise(self) -> bool:
        intervals = (median_interval(self.samples[label]) for label in self._running())
        return all(interval.relative_width <= self.plan.precision for interval in intervals)

    def _problems(self, label: str) -> list[str]:
        """Why the times of a contender cannot be trusted."""
        problems = [self.faults[label]] if label in self.faults else []
        samples = self.samples[label]
        if not samples:
            return problems
        event_ms = median_interval(samples).middle
        host_ms = median_interval(self.host_samples[label]).middle
        if min(samples) < self.floor_ms:
            problems.append(
                f"{min(samples):.4f} ms is less than the {self.floor_ms:.4f} ms "
                "that the hardware needs"
            )
        if host_ms > event_ms * 1.1 + self.plan.host_overhead_ms:
            problems.append(
                f"the host waited {host_ms:.3f} ms for work that the events put at "
                f"{event_ms:.3f} ms: part of it ran elsewhere or on the CPU"
            )
        if event_ms > host_ms * 1.01 + 0.01:
            problems.append(
                f"the events say {event_ms:.3f} ms, but after {host_ms:.3f} ms all was over"
            )
        return problems

    def _notes(self) -> tuple[str, ...]:
        """What disturbed the run as a whole."""
        notes = []
        reasons = sorted({reason for state in self.states for reason in state.slowed_by})
        if reasons:
            share = sum(bool(state.slowed_by) for state in self.states) / len(self.states)
            notes.append(f"the GPU was slowed by its {', '.join(reasons)} in {share:.0%} of rounds")
        if not self._precise():
            notes.append(f"not every median is known to ± {self.plan.precision:.1%}")
        return tuple(notes)
