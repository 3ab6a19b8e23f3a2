"""Launchers run without values, as the judge runs them, for tests."""

from __future__ import annotations

from graders.judge.cases.prepared import Prepared, prepare
from graders.judge.compiling.process import CompileWorker
from graders.judge.launch_trace.gate import Captured, capture
from graders.judge.plan.steps import CasePlan, Launch, Tune
from graders.judge.records import Exercise
from graders.judge.running.jobs import PlannedJobs
from graders.judge.submission.loading import Submission, from_text
from tests.support.exercise_records import an_exercise
from triton_util.report import Finding

VECTORS = an_exercise()
SECRET = b"of the tests"  # of which the numbers of all cases are drawn


def captured(
    text: str | Submission, worker: CompileWorker, exercise: Exercise = VECTORS
) -> Captured:
    """The plan for all cases of the exercise."""
    submission = from_text(text, exercise) if isinstance(text, str) else text
    return capture(submission, exercise, exercise.cases, worker)


def read(text: str, worker: CompileWorker, exercise: Exercise = VECTORS) -> list[Finding]:
    """What the gate *read* finds: in the text, else in what the launcher does."""
    submission = from_text(text, exercise)
    return list(submission.findings or captured(submission, worker, exercise).findings)


def planned(
    text: str, worker: CompileWorker, exercise: Exercise = VECTORS
) -> tuple[PlannedJobs, list[Prepared]]:
    """Jobs of a submission, and the cases of the exercise with their tensors."""
    submission = from_text(text, exercise)
    jobs = PlannedJobs(submission.source, captured(submission, worker, exercise))
    return jobs, prepare(exercise, exercise.cases, SECRET)


def first_case(found: Captured) -> CasePlan:
    """The plan for the first case, which the launcher came through."""
    case = found.plan.cases[0]
    assert case.raised is None, case.raised
    return case


def the_launch(found: Captured) -> Launch:
    """The only launch of the first case."""
    (launch,) = (step for step in first_case(found).steps if isinstance(step, Launch))
    return launch


def the_tuning(found: Captured) -> Tune:
    """The only launch through an autotuner of the first case."""
    (tune,) = (step for step in first_case(found).steps if isinstance(step, Tune))
    return tune
