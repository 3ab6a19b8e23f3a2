"""Run the cases of a submission in jailed workers, and compare what they return.

The gate *interpret* runs them on the CPU engine, the gate *gpu* on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch

from graders.judge.cases.compare import Expectation, wrong_elements
from graders.judge.cases.prepared import Prepared
from graders.judge.diagnosis.explain import Failure
from graders.judge.records import Evidence, Fault, GraderError
from graders.judge.running.jobs import PlannedJobs
from graders.judge.sandbox.pool import Job, Outcome, Workers

GPU_CASE_SECONDS = 60.0  # Triton compiles in that time, too: a wide tile takes its while
GPU_BATCH_SECONDS = 240.0
ORDERS = ("reversed", "shuffled")
ENDLESS = frozenset({"timeout", "out-of-memory"})  # one of these is enough: stop the run


@dataclass
class RunResult:
    """What running the cases showed."""

    failures: list[Failure] = field(default_factory=list)
    passed: list[Prepared] = field(default_factory=list)
    outcomes: list[tuple[Prepared, Outcome]] = field(default_factory=list)

    def failed_parts(self, public_only: bool = False) -> set[str]:
        return {
            failure.case.part for failure in self.failures if not (public_only and failure.hidden)
        }


def run_cases(
    planned: PlannedJobs, prepared: Sequence[Prepared], workers: Workers, orders: bool
) -> RunResult:
    """Run every case once and, where the record asks for it, in other program orders."""
    plan = [(item, "grid") for item in prepared]
    if orders:
        plan += [(item, order) for item in prepared if item.case.engine_orders for order in ORDERS]
    return collect(plan, run_plan(planned, plan, workers))


def run_plan(
    planned: PlannedJobs, plan: Sequence[tuple[Prepared, str]], workers: Workers
) -> list[Outcome]:
    """The outcome of each case in its schedule; nothing runs after one that came to no end."""
    made = [planned.job(item, schedule) for item, schedule in plan]
    jobs = [job for job in made if isinstance(job, Job)]
    if workers.device == "cpu":
        ran = workers.run(jobs, stop_on=ENDLESS)
    else:
        patient = [replace(job, seconds=GPU_CASE_SECONDS) for job in jobs]
        ran = workers.run(patient, stop_on=ENDLESS, seconds=GPU_BATCH_SECONDS)
    outcomes = iter(ran)
    return [next(outcomes) if isinstance(job, Job) else job for job in made]


def collect(plan: Sequence[tuple[Prepared, str]], outcomes: Sequence[Outcome]) -> RunResult:
    """Judge what became of each case; a case that has failed once is not looked at again."""
    result = RunResult()
    failed: set[tuple[str, int]] = set()
    for (item, schedule), outcome in zip(plan, outcomes, strict=True):
        key = item.case.name, item.expectation.result
        if outcome.status == "not-run" or key in failed:
            continue
        result.outcomes.append((item, outcome))
        failure = judge_outcome(item, outcome, schedule)
        if failure is not None:
            failed.add(key)
            result.failures.append(failure)
    ran = {id(item): item for item, _ in result.outcomes}
    result.passed = [
        item for item in ran.values() if (item.case.name, item.expectation.result) not in failed
    ]
    return result


def judge_outcome(item: Prepared, outcome: Outcome, schedule: str) -> Failure | None:
    """None when the case passes: right values, all stored, nothing else touched, no fault."""
    if outcome.status == "no-room":
        raise GraderError(_no_room(item))
    if outcome.error is not None and outcome.error.code == "not-interpreted":
        raise GraderError(_not_interpreted(outcome.error))
    status: str = outcome.status
    wrong = None
    if status == "returned":
        if outcome.output is None:
            raise GraderError("a worker said that it returned a result and sent none")
        wrong = wrong_elements(outcome.output, item.expectation)
        wrong |= _not_by_kernel(outcome, item.expectation, wrong)
        right = not bool(wrong.any()) and not outcome.faults
        status = "right" if right else "wrong-values"
        if outcome.inputs_changed:
            status = "inputs-changed"
    return None if status == "right" else _failure(item, outcome, schedule, status, wrong)


def _not_interpreted(error: Fault) -> str:
    """The message to the instructor; it quotes nothing that a submission could have written."""
    place = f" at line {error.line}" if error.line is not None else ""
    return (
        f"the process in which the submission runs says{place} that the interpreter lacks an "
        "operation of the kernel; a person has to look whether that is so"
    )


def _no_room(item: Prepared) -> str:
    name = "a hidden case" if item.hidden else repr(item.case.name)
    return (
        f"the process in which the submission runs says that there is no room for the inputs of "
        f"{name}; free memory of the GPU, or grade with fewer workers"
    )


def _failure(
    item: Prepared, outcome: Outcome, schedule: str, status: str, wrong: torch.Tensor | None
) -> Failure:
    faults = outcome.faults
    if outcome.error is not None and outcome.error not in faults:
        faults = (*faults, outcome.error)
    return Failure(
        case=item.case,
        hidden=item.hidden,
        status=status,
        evidence=Evidence(
            args=item.args,
            expected=item.expectation.values,
            actual=outcome.output,
            never_stored=outcome.never_stored,
            faults=faults,
            launches=outcome.launches,
        ),
        expectation=item.expectation,
        wrong=wrong if wrong is not None and bool(wrong.any()) else None,
        error=outcome.error,
        returned=outcome.returned,
        schedule=schedule,
    )


def _not_by_kernel(outcome: Outcome, expectation: Expectation, wrong: torch.Tensor) -> torch.Tensor:
    """Elements that hold the right value although no kernel stored them.

    A right zero counts as stored. A kernel may skip the zeros of an output from torch.zeros, or
    the NaNs that may become 0, and a product over an empty dimension stores nothing.
    """
    if outcome.output is None or (outcome.never_stored is None and outcome.given):
        return torch.zeros_like(wrong)
    zero = (expectation.values == 0) | (expectation.values.isnan() & (outcome.output == 0))
    return ~zero if outcome.never_stored is None else outcome.never_stored & ~zero
