"""Run the cases of a submission in jailed workers, and compare what they return.

The gate *interpret* runs them on the CPU engine, the gate *gpu* on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch

from graders.judge.cases.compare import Expectation, wrong_elements
from graders.judge.cases.prepared import Prepared
from graders.judge.diagnosis.failures import Failure, Seen, SeenCase
from graders.judge.records import Evidence, Fault, GraderError
from graders.judge.running.jobs import PlannedJobs
from graders.judge.running.report_checks import backed, not_interpreted
from graders.judge.sandbox.pool import Job, Outcome, Workers

GPU_CASE_SECONDS = 60.0  # this includes compiling: a wide tile takes Triton long
GPU_BATCH_SECONDS = 240.0
ORDERS = ("reversed", "shuffled")
ENDLESS = frozenset({"timeout", "asleep", "out-of-memory"})  # one of these is enough: stop the run
LATE = ("timeout", "too-slow")
TF32 = "tf32-rounding"  # the fault of a case that only TF32 makes wrong
ROUNDS = 3  # in which cases smaller than one that timed out are still tried


@dataclass
class RunResult:
    """The result of running the cases."""

    failures: list[Failure] = field(default_factory=list)
    passed: list[Prepared] = field(default_factory=list)
    outcomes: list[tuple[Prepared, Outcome]] = field(default_factory=list)
    planned: list[Prepared] = field(default_factory=list)
    largest: int | None = None  # elements of the largest public case that passed; None: see `slow`

    @property
    def slow(self) -> bool:
        """Whether the submission is correct and only too slow for large cases.

        All failures are timeouts, each case smaller than those finished, and a public case that
        passed was at least as large. Without the last condition, an endless kernel would count as
        slow if it finishes a few blocks. Without `largest`, the cases of this run are the public
        ones.
        """
        late = [item.size for item, outcome in self.outcomes if outcome.status == "timeout"]
        if not late or any(failure.status not in LATE for failure in self.failures):
            return False
        ran = {id(item) for item, _ in self.outcomes}
        smaller = all(id(item) in ran for item in self.planned if item.size < min(late))
        core = any(item.case.part == "core" for item in self.passed)
        largest = self.largest
        if largest is None:
            largest = max((item.size for item in self.passed), default=0)
        return smaller and core and largest >= min(late)

    def outcome_of(self, item: Prepared) -> Outcome | None:
        """The outcome of a case in the first schedule in which it ran."""
        return next((outcome for ran, outcome in self.outcomes if ran is item), None)

    def seen(self, source: str = "") -> Seen:
        """What is known about the cases, to name a mistake."""
        failed = {id(failure.expectation) for failure in self.failures}
        cases: dict[int, SeenCase] = {}
        for item, outcome in self.outcomes:
            key, launches = id(item.expectation), outcome.launches
            case = SeenCase(item.case, item.args, item.expectation, launches, key in failed)
            cases.setdefault(key, case)
        return Seen(self.failures, list(cases.values()), source)

    def failed_parts(self) -> set[str]:
        """The parts with a case that failed or did not run."""
        ran = {id(item) for item, _ in self.outcomes}
        missed = {item.case.part for item in self.planned if id(item) not in ran}
        return missed | {failure.case.part for failure in self.failures}


def run_cases(
    planned: PlannedJobs,
    prepared: Sequence[Prepared],
    workers: Workers,
    orders: bool,
    counted: Prepared | None = None,
    largest: int | None = None,
) -> RunResult:
    """Run every case once and, if the record asks for it, in other program orders.

    While the case `counted` runs, the bytes that it moves are counted. `largest`: see `RunResult`.
    """
    plan = [(item, "grid") for item in prepared]
    if orders:
        plan += [(item, order) for item in prepared if item.case.engine_orders for order in ORDERS]
    outcomes = _by_size(planned, plan, workers, counted)
    for outcome in outcomes:
        if outcome.error is not None and outcome.error.code == "not-interpreted":
            raise not_interpreted(outcome.error.line, planned.source)
    result = collect(plan, outcomes)
    result.largest = largest
    _tell_tf32_apart(result, planned, workers)
    if result.slow:
        result.failures = [replace(failure, status="too-slow") for failure in result.failures]
    return result


def _tell_tf32_apart(result: RunResult, planned: PlannedJobs, workers: Workers) -> None:
    """Run failed cases again without TF32, if a tl.dot cut off its factors to TF32.

    A case that is then correct fails because of TF32 alone, and gets a fault that says so. A case
    that is still wrong is judged without TF32, which would hide the mistake.
    """
    rounded = [
        (item, "grid")
        for item, outcome in result.outcomes
        if any(launch.tf32 for launch in outcome.launches)
        and any(failure.expectation is item.expectation for failure in result.failures)
    ]
    exact = run_plan(planned, rounded, workers, tf32=False) if rounded else []
    for (item, schedule), outcome in zip(rounded, exact, strict=True):
        if outcome.status == "not-run":
            continue
        place = next(i for i, f in enumerate(result.failures) if f.expectation is item.expectation)
        still = judge_outcome(item, outcome, schedule)
        result.failures[place] = still or _because_of_tf32(result.failures[place])


def _because_of_tf32(failure: Failure) -> Failure:
    fault = Fault(TF32, "Without TF32 this case is correct.")
    evidence = replace(failure.evidence, faults=(fault, *failure.evidence.faults))
    return replace(failure, evidence=evidence)


def _by_size(
    planned: PlannedJobs,
    plan: Sequence[tuple[Prepared, str]],
    workers: Workers,
    counted: Prepared | None,
) -> list[Outcome]:
    """The outcome of each case; after a timeout, smaller cases still run.

    A kernel that is only slow passes them. If no case has finished, none is tried again.
    """
    outcomes = run_plan(planned, plan, workers, counted)
    for _ in range(ROUNDS):
        late = [
            item.size for (item, _), o in zip(plan, outcomes, strict=True) if o.status == "timeout"
        ]
        waiting = [
            place
            for place, (item, _) in enumerate(plan)
            if outcomes[place].status == "not-run" and late and item.size < min(late)
        ]
        if not waiting or not any(outcome.status == "returned" for outcome in outcomes):
            break
        fresh = run_plan(planned, [plan[place] for place in waiting], workers, counted)
        for place, outcome in zip(waiting, fresh, strict=True):
            outcomes[place] = outcome
    return outcomes


def run_plan(
    planned: PlannedJobs,
    plan: Sequence[tuple[Prepared, str]],
    workers: Workers,
    counted: Prepared | None = None,
    tf32: bool = True,
) -> list[Outcome]:
    """The outcome of each case in its schedule; after one that never ends no more are run."""
    made = [
        planned.job(item, schedule, traffic=item is counted and schedule == "grid", tf32=tf32)
        for item, schedule in plan
    ]
    jobs = [job for job in made if isinstance(job, Job)]
    if workers.device == "cpu":
        ran = workers.run(jobs, stop_on=ENDLESS)
    else:
        patient = [replace(job, seconds=GPU_CASE_SECONDS) for job in jobs]
        ran = workers.run(patient, stop_on=ENDLESS, seconds=GPU_BATCH_SECONDS)
    outcomes = iter(ran)
    became = [next(outcomes) if isinstance(job, Job) else job for job in made]
    told = zip(became, plan, strict=True)
    return [backed(outcome, item, planned, workers.device) for outcome, (item, _) in told]


def collect(plan: Sequence[tuple[Prepared, str]], outcomes: Sequence[Outcome]) -> RunResult:
    """Judge the outcome of each case; a case that has failed once is not judged again."""
    result = RunResult(planned=[item for item, _ in plan])
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
    """None if the case passes: correct values, all stored, nothing else touched, no fault."""
    if outcome.status == "no-room":
        raise GraderError(
            f"the GPU has too little room for the inputs of {item.case.name!r}; free memory of it, "
            "or grade with fewer workers"
        )
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


def _failure(
    item: Prepared, outcome: Outcome, schedule: str, status: str, wrong: torch.Tensor | None
) -> Failure:
    faults = outcome.faults
    if outcome.error is not None and outcome.error not in faults:
        faults = (*faults, outcome.error)
    return Failure(
        case=item.case,
        status=status,
        evidence=Evidence(
            args=item.args,
            expected=item.expectation.values,
            actual=outcome.output,
            never_stored=outcome.never_stored,
            faults=faults,
            launches=outcome.launches,
            result=item.expectation.result,
        ),
        expectation=item.expectation,
        wrong=wrong if wrong is not None and bool(wrong.any()) else None,
        error=outcome.error,
        returned=outcome.returned,
        schedule=schedule,
    )


def _not_by_kernel(outcome: Outcome, expectation: Expectation, wrong: torch.Tensor) -> torch.Tensor:
    """The elements that have the correct value although no kernel stored them.

    A correct zero counts as stored: a kernel may skip the zeros of an output from torch.zeros, or
    the NaNs that may become 0, and a product over an empty dimension stores nothing.
    """
    if outcome.output is None or (outcome.never_stored is None and outcome.given):
        return torch.zeros_like(wrong)
    zero = (expectation.values == 0) | (expectation.values.isnan() & (outcome.output == 0))
    return ~zero if outcome.never_stored is None else outcome.never_stored & ~zero
