"""Run the cases that are constructed for a submission, once all its other cases have passed."""

from __future__ import annotations

from dataclasses import dataclass

from graders.judge import discovery
from graders.judge.cases.constructed import constants_of, constructed, past_grids
from graders.judge.cases.prepared import Prepared
from graders.judge.gates.protocol import Context
from graders.judge.launch_trace.gate import Captured
from graders.judge.launch_trace.information import literals
from graders.judge.plan.steps import CasePlan, launches_of
from graders.judge.running.interpret import RunResult, run_cases
from graders.judge.running.jobs import PlannedJobs

MOST_PROGRAMS = 65_535  # along axes 1 and 2 of a grid


@dataclass(frozen=True)
class Constructed:
    """The run of the constructed cases, and what the launcher asked for in them."""

    captured: Captured
    planned: PlannedJobs
    cases: list[Prepared]
    ran: RunResult


def run(context: Context, hidden: bool = False) -> Constructed | None:
    """Run the constructed cases, or other ones of the same kinds; None without a contract."""
    exercise, runtime, submission = context.exercise, context.runtime, context.submission
    contract = discovery.contract(exercise.name)
    if contract is None:
        return None
    plan = context.captured.plan
    constants = constants_of(plan, exercise.cases, literals(submission.source))
    secret = runtime.secret_number(exercise) if hidden else None
    small = constructed(exercise, contract, constants, secret)
    cases = (*small, *past_grids(exercise, contract))
    captured = runtime.capture_others(submission, exercise, cases, hidden)
    chosen = [
        number
        for number in range(len(cases))
        if number < len(small) or _past_a_grid(captured.case(number))
    ]
    prepared = runtime.prepared(exercise, cases, chosen)
    planned = PlannedJobs(submission.source, captured)
    workers, largest = runtime.workers("cpu"), context.facts.largest
    ran = run_cases(planned, prepared, workers, orders=False, largest=largest)
    return Constructed(captured, planned, prepared, ran)


def _past_a_grid(case: CasePlan | None) -> bool:
    """Whether a launch has more programs along axis 1 or 2 than a GPU starts."""
    launches = () if case is None else launches_of(case.steps)
    return any(
        type(size) is int and size > MOST_PROGRAMS
        for launch in launches
        if isinstance(launch.grid, list)
        for size in launch.grid[1:]
    )
