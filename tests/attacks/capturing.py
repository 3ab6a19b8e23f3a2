"""Captures launchers for vector_add on two sizes, and runs what they ask for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import torch

from graders.judge import discovery
from graders.judge.cases.layouts import layouts
from graders.judge.cases.prepared import Prepared, prepare
from graders.judge.compiling.process import Answer, CompileWorker
from graders.judge.launch_trace.gate import Captured, capture
from graders.judge.records import Case, Exercise, TensorSpec
from graders.judge.running.jobs import PlannedJobs
from graders.judge.sandbox.pool import Job, Outcome, Workers
from graders.judge.submission.loading import SubmissionError, from_text
from tests.support.capturing import SECRET

SIZES = (37, 2000)


@cache
def exercise() -> Exercise:
    """The exercise that every attack is about."""
    return discovery.exercises()["vector_add"]


@cache
def cases() -> tuple[Prepared, ...]:
    """Two cases, both public."""
    made = [Case(f"n={n}", (TensorSpec((n,)), TensorSpec((n,)))) for n in SIZES]
    return tuple(prepare(exercise(), made, SECRET))


def ask(worker: CompileWorker, source: str) -> Answer:
    """What the process answers in which a submission's Python runs, no gate in front of it."""
    request = {
        "task": "capture",
        "source": source,
        "codes": [],
        "filename": "<submission>",
        "launcher": "vector_add",
        "cases": layouts([item.case for item in cases()]),
        "gpu": None,
    }
    return worker.ask(request)


def captured(worker: CompileWorker, source: str) -> Captured:
    """The plan of a submission and the findings about it."""
    submission = from_text(source, exercise(), "s.py")
    listed = [item.case for item in cases()]
    return capture(submission, exercise(), listed, worker)


def run(workers: Workers, source: str, found: Captured) -> list[Outcome]:
    """What becomes of the plan, whatever the findings are."""
    planned = PlannedJobs(source, found)
    made = [planned.job(item, "grid") for item in cases()]
    ran = iter(workers.run([job for job in made if isinstance(job, Job)]))
    return [next(ran) if isinstance(job, Job) else job for job in made]


def right(outcomes: Sequence[Outcome]) -> bool:
    """What the judge requires of the cases, but for the gates in front of them."""
    return all(_right(item, out) for item, out in zip(cases(), outcomes, strict=True))


def _right(item: Prepared, outcome: Outcome) -> bool:
    if outcome.status != "returned" or outcome.output is None or outcome.never_stored is None:
        return False
    stored = not bool(outcome.never_stored.any())
    same = torch.equal(outcome.output, item.args[0] + item.args[1])
    return same and stored and not outcome.inputs_changed and not outcome.faults


def verdict(worker: CompileWorker, workers: Workers, source: str) -> str:
    """ "points", or why there are none: the code of a finding, or what became of a case."""
    try:
        found = captured(worker, source)
    except SubmissionError as error:
        return error.finding.code
    if found.findings:
        return found.findings[0].code
    outcomes = run(workers, source, found)
    if right(outcomes):
        return "points"
    told = next((o for o in outcomes if o.status != "returned"), None)
    return told.status if told is not None else "wrong or not stored by a kernel"
