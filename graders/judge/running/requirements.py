"""What an exercise requires besides the result: which kernels, tuned how."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from graders.judge.compiling.process import CompileWorker
from graders.judge.launch_trace.gate import NO_GPU, capture
from graders.judge.plan.requirements import CPU, Machine, Plans
from graders.judge.plan.steps import CasePlan, LaunchPlan, Value, launches_of
from graders.judge.records import Exercise
from graders.judge.running.compiled_requirements import broken_in_ptx
from graders.judge.running.jobs import PlannedJobs
from graders.judge.submission.loading import Submission
from triton_util.report import Finding

# An RTX 3090: less than an A100 in every property that a launcher may query.
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
    """The finding for the first promise that a correct submission breaks."""
    broken = _broken_in_plan(planned, exercise, submission, worker)
    return broken or broken_in_ptx(planned, exercise, worker)


def _broken_in_plan(
    planned: PlannedJobs, exercise: Exercise, submission: Submission, worker: CompileWorker
) -> list[Finding]:
    if not exercise.requirements:
        return []
    public = exercise.cases

    @cache
    def asked_on(machine: Machine) -> Sequence[CasePlan]:
        gpu = NO_GPU if machine == CPU else _properties(machine)
        return capture(submission, exercise, public, worker, gpu).plan.cases

    attributes = _attributes(planned.plan)
    plans = Plans(planned.plan.cases[: len(public)], asked_on, attributes)
    for promise in exercise.requirements:
        seen = promise.broken(plans)
        if seen is not None:
            told = f"The result is correct. {promise.message} {seen}".strip()
            message = f"{told} That is worth half of the points."
            return [
                Finding(
                    "traffic", promise.code, promise.title, message, next_step=promise.next_step
                )
            ]
    return []


def _attributes(plan: LaunchPlan) -> frozenset[str]:
    """The names after a dot in the kernels, and the functions of Triton behind other names."""
    trees = (kernel.code.known_tree for kernel in plan.kernels if kernel.code is not None)
    parts = (part for tree in trees for part in ast.walk(tree))
    handed: list[Value] = [
        [*k.names.values(), *(p.default for p in k.parameters)] for k in plan.kernels
    ]
    launches = (launch for case in plan.cases for launch in launches_of(case.steps))
    handed += ([*launch.positional, *launch.named.values()] for launch in launches)
    attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)}
    return frozenset(attributes.union(_functions(handed)))


def _functions(value: Value) -> Iterator[str]:
    """Yield Triton's names for the functions in a value."""
    if isinstance(value, dict):
        for kind, inner in value.items():
            yield from [inner[1]] if kind == "library" else _functions(inner)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _functions(item)


def _properties(machine: Machine) -> dict[str, Any]:
    """The machine's properties in torch that differ from an A100's."""
    return {
        **SMALL,
        "major": machine.major,
        "minor": MINOR[machine.major],
        "shared_memory_per_block_optin": machine.shared_bytes,
        "shared_memory_per_multiprocessor": machine.shared_bytes + 1024,
        "warps": machine.warps,
    }
