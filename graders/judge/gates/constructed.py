"""Run the cases that are constructed for a submission, once all its other cases have passed.

If they showed one side only of a decision of a kernel, a few more cases aim at the other side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graders.judge import discovery
from graders.judge.cases.constructed import constants_of, constructed, further, past_grids
from graders.judge.cases.contract import Contract
from graders.judge.cases.prepared import Prepared
from graders.judge.cases.tensors import describe
from graders.judge.gates.protocol import Context
from graders.judge.launch_trace.information import literals
from graders.judge.plan.steps import launches_of
from graders.judge.records import Case
from graders.judge.running.interpret import LATE, RunResult, run_cases
from graders.judge.running.jobs import PlannedJobs
from graders.judge.running.reached import Decision, Sides
from triton_util.report import Finding

MOST_PROGRAMS = 65_535  # along axes 1 and 2 of a grid


@dataclass(frozen=True)
class Constructed:
    """The run of the constructed cases, and what is wrong with the launcher in them.

    `findings`: what no launcher may do, and launches that no GPU accepts; they cost the points of
    `part`.
    """

    findings: tuple[Finding, ...]
    part: str
    planned: PlannedJobs
    cases: list[Prepared]
    ran: RunResult

    @property
    def failed(self) -> bool:
        return bool(self.findings or self.ran.failures)


def runs(context: Context, sides: Sides) -> Iterator[Constructed]:
    """Yield the run of the constructed cases and, if needed, of more, until one fails.

    `sides` has the sides that the written cases showed, and gets those that these cases show.
    """
    made = run(context)
    contract = discovery.contract(context.exercise.name)
    if made is None or contract is None:
        return
    yield made
    sides.add(made.planned.plan, (outcome for _, outcome in made.ran.outcomes))
    if not made.failed and (missing := sides.missing()):
        more = _performed(context, _further(context, contract, missing))
        if not more.ran.failures or any(one.status not in LATE for one in more.ran.failures):
            yield more  # slowness in these cases, which are large, costs nothing
        sides.add(more.planned.plan, (outcome for _, outcome in more.ran.outcomes))


def _further(
    context: Context, contract: Contract, missing: Sequence[tuple[Decision, int]]
) -> tuple[Case, ...]:
    """The cases for these decisions: numbers in their lines matter most."""
    exercise, source = context.exercise, context.submission.source
    lines = source.split("\n")
    written = "\n".join(lines[one.line - 1] for one, _ in missing if 0 < one.line <= len(lines))
    near = sorted({int(number) for number in literals(written) if number < math.inf}, reverse=True)
    plan, every = context.captured.plan, literals(source)
    constants = constants_of(plan, exercise.cases, every, most=None)
    return further(exercise, contract, constants, [size for size in near if size > 1])


def run(context: Context, hidden: bool = False) -> Constructed | None:
    """Run the constructed cases, or other ones of the same kinds; None without a contract."""
    exercise, runtime, submission = context.exercise, context.runtime, context.submission
    contract = discovery.contract(exercise.name)
    if contract is None:
        return None
    constants = constants_of(context.captured.plan, exercise.cases, literals(submission.source))
    secret = runtime.secret_number(exercise) if hidden else None
    cases = constructed(exercise, contract, constants, secret)
    made = _performed(context, cases, hidden)
    refused = [] if hidden or made.ran.failures else [*_refused_launches(context, contract)]
    return replace(made, findings=(*made.findings, *refused[:1]))


def _performed(context: Context, cases: tuple[Case, ...], hidden: bool = False) -> Constructed:
    """Run these cases."""
    exercise, runtime, submission = context.exercise, context.runtime, context.submission
    captured = runtime.capture_others(submission, exercise, cases, hidden)
    prepared = runtime.prepared(exercise, cases)
    planned = PlannedJobs(submission.source, captured)
    workers, largest = runtime.workers("cpu"), context.facts.largest
    ran = run_cases(planned, prepared, workers, orders=False, largest=largest)
    part = "edges" if "edges" in exercise.parts else [*exercise.parts][-1]
    return Constructed(captured.findings, part, planned, prepared, ran)


def _refused_launches(context: Context, contract: Contract) -> Iterator[Finding]:
    """Yield launches with more programs along axis 1 or 2 than a GPU starts.

    The launcher runs for cases that are too large to be run; all else in their plans is ignored.
    """
    exercise = context.exercise
    cases = past_grids(exercise, contract)
    plan = context.runtime.capture_others(context.submission, exercise, cases).plan
    for case, planned in zip(cases, plan.cases, strict=False):
        for launch in launches_of(planned.steps):
            sizes = launch.grid[1:] if isinstance(launch.grid, list) else []
            for axis, size in enumerate(sizes, 1):
                if type(size) is int and size > MOST_PROGRAMS:
                    seen = describe(case, exercise.parameters)
                    yield _refused(launch.line, case.name, seen, axis, size)


def _refused(line: int | None, case: str, seen: str, axis: int, size: int) -> Finding:
    return Finding(
        gate="interpret",
        code="grid-past-limit",
        title=f"A GPU refuses this launch: too many programs along axis {axis}",
        message=(
            f"For a larger input the grid has {size} programs along axis {axis}. A GPU starts at "
            f"most {MOST_PROGRAMS} along axes 1 and 2, and 2**31 - 1 along axis 0. Seen with "
            f"{seen}."
        ),
        line=line,
        case=case,
        next_step=(
            "Put the axis that may be long on axis 0, or use one axis and compute both tile "
            "numbers from tl.program_id(0)."
        ),
    )
