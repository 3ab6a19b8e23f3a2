"""What an exercise asks for besides the result: which kernels, tuned how."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from graders.judge.capture.gate import NO_GPU, capture
from graders.judge.compiling.process import CompileWorker
from graders.judge.plan.promises import Plans
from graders.judge.plan.steps import CasePlan
from graders.judge.records import Exercise
from graders.judge.report import Finding
from graders.judge.running.compiled_promises import broken_in_ptx
from graders.judge.running.jobs import PlannedJobs
from graders.judge.submission.loading import Submission

# An RTX 3090: the architecture of an A100 with three fifths of its shared memory.
SMALL = {
    "name": "NVIDIA GeForce RTX 3090",
    "minor": 6,
    "multi_processor_count": 82,
    "total_memory": 24 << 30,
    "max_threads_per_multi_processor": 1536,
    "shared_memory_per_block_optin": 99 * 1024,
    "shared_memory_per_multiprocessor": 100 * 1024,
    "L2_cache_size": 6 << 20,
}


def broken_promises(
    planned: PlannedJobs, exercise: Exercise, submission: Submission, worker: CompileWorker
) -> list[Finding]:
    """The finding for the first promise that a right submission breaks."""
    broken = _broken_in_plan(planned, exercise, submission, worker)
    return broken or broken_in_ptx(planned, exercise, worker)


def _broken_in_plan(
    planned: PlannedJobs, exercise: Exercise, submission: Submission, worker: CompileWorker
) -> list[Finding]:
    if not exercise.promises:
        return []
    public = exercise.cases

    @cache
    def asked_on(machine: str) -> Sequence[CasePlan]:
        gpu = {"small": SMALL, "cpu": NO_GPU}[machine]
        return capture(submission, exercise, public, len(public), worker, gpu).plan.cases

    plans = Plans(
        planned.plan.cases[: len(public)], lambda: asked_on("small"), lambda: asked_on("cpu")
    )
    for promise in exercise.promises:
        seen = promise.broken(plans)
        if seen is not None:
            told = f"The result is right. {promise.message} {seen}".strip()
            message = f"{told} That is worth half of the points."
            return [
                Finding(
                    "traffic", promise.code, promise.title, message, next_step=promise.next_step
                )
            ]
    return []
