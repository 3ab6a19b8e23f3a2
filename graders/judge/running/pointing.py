"""Run failing cases once more, to see where each of their programs points, and when."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import torch

from graders.judge.cases.prepared import Prepared
from graders.judge.diagnosis.failures import Failure
from graders.judge.diagnosis.programs import loads_table, program_table
from graders.judge.records import GraderError, LaunchFacts
from graders.judge.running.interpret import RunResult
from graders.judge.running.jobs import PlannedJobs
from graders.judge.sandbox.pool import Job, Outcome, Workers
from triton_util.report import Table

MOST_ELEMENTS = 1 << 20  # of a result whose rounds are recorded
MOST_IN_ROUNDS = 16  # cases
STOPPED = frozenset({"out-of-bounds-load", "out-of-bounds-store", "gap-store"})
MOST_TRIED = 3  # of the smallest cases: some of them show no wrong place


@dataclass(frozen=True)
class Pointing:
    """One failing case and its recorded last launch; `table` if places explain the failure."""

    failure: Failure
    launch: LaunchFacts
    table: Table | None

    @property
    def block(self) -> tuple[int, ...]:
        """The block of the stores to the result; () if it is not known."""
        pointed, wrong = self.launch.pointed, self.failure.wrong
        if pointed is None or wrong is None or pointed.operation != "store" or not pointed.once:
            return ()
        return pointed.block if pointed.shape == tuple(wrong.shape) else ()


def pointing_of(
    named: str | None, ran: RunResult, planned: PlannedJobs, workers: Workers
) -> Pointing | None:
    """The smallest failing case that fails like the case `named` and whose table explains it.

    Cases with several programs come first: with a single program many mistakes look alike. If all
    stores are at the correct positions, the table also shows loads. If positions explain nothing,
    returns the case `named` without a table, if it was recorded.
    """
    failing = [(item, f) for item, f in _failing(ran) if _tells(f)]
    like = next((_kind(f) for _, f in failing if f.case.name == named), None)
    same = [(item, f) for item, f in failing if _kind(f) == like]
    tried = sorted(same, key=_smallest)[:MOST_TRIED]
    seen = _pointed(planned, [item for item, _ in tried], workers)
    told = [(failure, launch) for (_, failure), launch in zip(tried, seen, strict=True) if launch]
    for made in (_table, _loads):
        for failure, launch in told:
            table = made(failure, launch)
            if table is not None:
                return Pointing(failure, launch, table)
    itself = (Pointing(f, launch, None) for f, launch in told if f.case.name == named)
    return next(itself, None)


def with_rounds(ran: RunResult, planned: PlannedJobs, workers: Workers) -> RunResult:
    """The run, plus the rounds of the loop in which the elements of failing cases were stored.

    Failures that were not recorded are left out. Nothing changes if a program went wrong in its
    first round: then rounds explain nothing.
    """
    partly = [(item, f) for item, f in _failing(ran) if _is_partly_wrong(f)]
    partly, unseen = partly[:MOST_IN_ROUNDS], {id(f) for _, f in partly[MOST_IN_ROUNDS:]}
    outcomes = _once_more(planned, [item for item, _ in partly], workers)
    again = {
        id(failure): outcome.again
        for (_, failure), outcome in zip(partly, outcomes, strict=True)
        if outcome is not None and outcome.again is not None
    }
    seen = [(f, again[id(f)]) for _, f in partly if id(f) in again]
    if any(f.wrong is not None and bool((f.wrong & ~later).any()) for f, later in seen):
        return ran
    failures = [
        replace(f, evidence=replace(f.evidence, again=again[id(f)])) if id(f) in again else f
        for f in ran.failures
        if id(f) not in unseen
    ]
    return replace(ran, failures=failures)


def _is_partly_wrong(failure: Failure) -> bool:
    wrong = failure.wrong
    if wrong is None or failure.status != "wrong-values":
        return False
    return 0 < int(wrong.sum()) < wrong.numel() <= MOST_ELEMENTS


def _table(failure: Failure, launch: LaunchFacts) -> Table | None:
    evidence, pointed = failure.evidence, launch.pointed
    missed = None if evidence.actual is None else _missed(failure)
    if pointed is None or (missed is not None and pointed.operation != "store"):
        return None
    return program_table(pointed, failure.case.name, evidence.expected, missed)


def _loads(failure: Failure, launch: LaunchFacts) -> Table | None:
    """The table of loads for a launch that finished; None if there is none."""
    if failure.evidence.actual is None or launch.pointed is None:
        return None
    return loads_table(launch.pointed, launch.loads, failure.case.name)


def _smallest(pair: tuple[Prepared, Failure]) -> tuple[bool, int]:
    item, failure = pair
    launches = failure.evidence.launches
    return not launches or prod(launches[-1].grid) < 2, item.size


def _failing(ran: RunResult) -> list[tuple[Prepared, Failure]]:
    by_expectation = {id(item.expectation): item for item, _ in ran.outcomes}
    return [(by_expectation[id(f.expectation)], f) for f in ran.failures]


def _tells(failure: Failure) -> bool:
    """Whether places can explain the failure: a wrong result, or an access outside."""
    return failure.wrong is not None or _kind(failure) in STOPPED


def _kind(failure: Failure) -> str:
    return failure.status if failure.error is None else failure.error.code


def _missed(failure: Failure) -> torch.Tensor:
    """The wrong elements that no kernel stored."""
    never, wrong = failure.evidence.never_stored, failure.wrong
    assert wrong is not None  # the launch finished, see `_tells`
    return torch.zeros_like(wrong) if never is None else never & wrong


def _pointed(
    planned: PlannedJobs, items: Sequence[Prepared], workers: Workers
) -> list[LaunchFacts | None]:
    """The last launch of each case, with the places at which its programs point."""
    outcomes = _once_more(planned, items, workers)
    return [one.launches[-1] if one is not None and one.launches else None for one in outcomes]


def _once_more(
    planned: PlannedJobs, items: Sequence[Prepared], workers: Workers
) -> list[Outcome | None]:
    """The outcome of each case while its programs are recorded.

    This run explains a failure, and must never cause one.
    """
    jobs = [planned.job(item, "grid", programs=True) for item in items]
    with contextlib.suppress(GraderError):
        outcomes = iter(workers.run([job for job in jobs if isinstance(job, Job)]))
        return [next(outcomes) if isinstance(job, Job) else None for job in jobs]
    return [None] * len(items)
