"""What an exercise asks for besides the result: which kernels, tuned how."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from graders.judge.capture.gate import NO_GPU, capture
from graders.judge.compiling.process import CompileWorker
from graders.judge.plan.promises import CPU, Machine, Plans
from graders.judge.plan.steps import CasePlan, LaunchPlan
from graders.judge.records import Exercise
from graders.judge.report import Finding
from graders.judge.running.compiled_promises import broken_in_ptx
from graders.judge.running.jobs import PlannedJobs
from graders.judge.submission.loading import Submission

# An RTX 3090: less than an A100 in all that a launcher may ask for.
SMALL = {
    "name": "NVIDIA GeForce RTX 3090",
    "multi_processor_count": 82,
    "total_memory": 24 << 30,
    "max_threads_per_multi_processor": 1536,
    "L2_cache_size": 6 << 20,
}
MINOR = {8: 6, 9: 0}


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
    def asked_on(machine: Machine) -> Sequence[CasePlan]:
        gpu = NO_GPU if machine == CPU else _properties(machine)
        return capture(submission, exercise, public, worker, gpu).plan.cases

    attributes = _attributes(planned.plan)
    plans = Plans(planned.plan.cases[: len(public)], asked_on, attributes)
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


def _attributes(plan: LaunchPlan) -> frozenset[str]:
    """What the kernels use behind a dot, or by a name that stands for it: "load" of tl.load."""
    found = set()
    for kernel in plan.kernels:
        tree = None if kernel.code is None else kernel.code.tree()
        parts = () if tree is None else ast.walk(tree)
        found |= {part.attr for part in parts if isinstance(part, ast.Attribute)}
        values = (value for value in kernel.names.values() if isinstance(value, Mapping))
        found |= {value["library"][1] for value in values if "library" in value}
    return frozenset(found)


def _properties(machine: Machine) -> dict[str, Any]:
    """What torch says of the machine, as far as it is no A100."""
    return {
        **SMALL,
        "major": machine.major,
        "minor": MINOR[machine.major],
        "shared_memory_per_block_optin": machine.shared_bytes,
        "shared_memory_per_multiprocessor": machine.shared_bytes + 1024,
        "warps": machine.warps,
    }
