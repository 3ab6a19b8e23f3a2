"""What a stopwatch did with a simulated GPU, and what it made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import mean, median

from graders.judge.records import Evidence
from triton_util.bench.simulated import Mark, Model, SimulatedGpu, Step

ALIKE = 0.004  # relative: the same figure, but for the order of the additions
SMALL = 0.02  # of the truth: a difference that is not looked into


@dataclass(frozen=True)
class Interval:
    """What lies between two marks of a stopwatch: events that were read, or readings of the clock.

    launches: those of the kernel. others: further work of the GPU. idle_ms: how long the GPU waited
    in between for the host.
    """

    ms: float
    launches: tuple[Step, ...]
    others: tuple[Step, ...]
    waits: int
    idle_ms: float


@dataclass(frozen=True)
class Trace:
    """One attempt: the steps, and the number that came of it (None: none did)."""

    model: Model
    steps: Sequence[Step]
    measured: float | None

    @classmethod
    def of(cls, evidence: Evidence) -> Trace:
        """The attempt that a failing call of `fair_ms` was."""
        gpu: SimulatedGpu = evidence.args[2]
        measured = None if evidence.actual is None else float(evidence.actual[0])
        return cls(gpu.model, gpu.steps, measured)

    @cached_property
    def launches(self) -> int:
        return sum(step.what == "launch" for step in self.steps)

    @cached_property
    def by_events(self) -> bool:
        """Whether times are differences of events, and not of readings of the host's clock."""
        return any(step.read for step in self.steps)

    @cached_property
    def intervals(self) -> list[Interval]:
        """The pieces in which the kernel was launched, between neighbouring marks.

        A mark is an event that was read; where none was, a reading of the host's clock.
        """
        marks = [
            place
            for place, step in enumerate(self.steps)
            if (step.read if self.by_events else step.what == "clock")
        ]
        pieces = (self._interval(first, last) for first, last in pairwise(marks))
        return [piece for piece in pieces if piece.launches]

    def _interval(self, first: int, last: int) -> Interval:
        begin, end = self.steps[first], self.steps[last]
        within = self.steps[first + 1 : last]
        work = [step for step in within if step.what in ("launch", "flush", "inputs")]
        busy = sum(step.end - step.begin for step in work)
        return Interval(
            ms=end.end - begin.end,
            launches=tuple(step for step in work if step.what == "launch"),
            others=tuple(step for step in work if step.what != "launch"),
            waits=sum(step.what == "wait" for step in within),
            idle_ms=end.end - begin.end - busy,
        )

    @cached_property
    def flushed_too_early(self) -> bool:
        """Whether a flush comes before the inputs that a launch takes, and none behind them."""
        before: list[str] = []
        for step in self.steps:
            if step.what == "launch":
                if "cached" in step.marks and before[-1:] == ["inputs"] and "flush" in before:
                    return True
                before.clear()
            elif step.what in ("flush", "inputs"):
                before.append(step.what)
        return False

    def mostly(self, mark: Mark) -> bool:
        """Whether at least half of the launches that were measured bear this mark."""
        measured = [step for piece in self.intervals for step in piece.launches]
        return bool(measured) and 2 * sum(mark in step.marks for step in measured) >= len(measured)

    def alike(self, figure: float) -> bool:
        """Whether the stopwatch gave this figure."""
        return self.measured is not None and abs(self.measured - figure) <= ALIKE * abs(figure)

    def combined(self) -> Iterator[tuple[str, float]]:
        """What can be made of the measured pieces, by name."""
        times = [piece.ms for piece in self.intervals]
        if times:
            yield from (("mean", mean(times)), ("median", median(times)))
            yield from (("least", min(times)), ("most", max(times)), ("sum", sum(times)))

    def is_the(self, name: str) -> bool:
        """Whether it gave that, and nothing fairer gives the same figure."""
        figures = dict(self.combined())
        if name not in figures or not self.alike(figures[name]):
            return False
        return abs(figures[name] - figures["median"]) > SMALL * figures["median"]
