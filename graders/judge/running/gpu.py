"""The gate *gpu*: the interpreter's cases and large ones, on the GPU, with real launches.

It comes after *interpret*, so what fails here is memory-safe and correct on the CPU. Running the
case again can show why the two differ: see `gpu_differences`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from graders.judge.cases.compare import returned_tensor, widened
from graders.judge.cases.prepared import Prepared
from graders.judge.diagnosis.explain import explain, finding
from graders.judge.diagnosis.failures import Difference, Failure
from graders.judge.records import Exercise
from graders.judge.running.gpu_differences import RanAgain, fill_undefined_lanes, name_difference
from graders.judge.running.interpret import RunResult, collect, run_plan
from graders.judge.running.jobs import PlannedJobs
from graders.judge.sandbox.pool import Workers
from triton_util.report import Finding

REPEATS = 4  # of a failing case: does its result change from run to run?
MOST_REPEATED = 3  # failing cases; the others are assumed to fail for the first one's reason


def gpu_gate(
    planned: PlannedJobs,
    exercise: Exercise,
    cases: Sequence[Prepared],
    large: Sequence[Prepared],
    workers: Workers,
) -> tuple[RunResult, list[Finding]]:
    """Run the cases on the GPU; the findings are empty if all of them pass.

    `cases` are those that have passed on the interpreter, `large` are for a GPU only.
    """
    real = [*cases, *large]
    plan = [(item, "grid") for item in real]
    run = collect(plan, run_plan(planned, plan, workers))
    interpreted = {item.case.name for item in cases}
    reasons: list[Difference] = []
    for number, failure in enumerate(run.failures):
        if failure.status != "wrong-values":
            continue
        difference = reasons[0] if reasons else None  # many cases rarely fail for many reasons
        if number < MOST_REPEATED:
            item = next(item for item in real if item.expectation is failure.expectation)
            seen = RanAgain(
                failure,
                repeats=_results(planned, item, workers, REPEATS),
                filled=_filled(planned, item, workers),
                magnitude=_magnitude(exercise, failure),
                kernels=planned.plan.kernels,
                interpreted=failure.case.name in interpreted,
            )
            difference = name_difference(seen)
            reasons += [] if difference is None else [difference]
        run.failures[number] = replace(failure, difference=difference)
    causes = explain(exercise, run.seen())
    return run, [finding("gpu", exercise, cause) for cause in causes]


def _results(
    planned: PlannedJobs, item: Prepared, workers: Workers, count: int
) -> list[torch.Tensor]:
    """The outputs of `count` more runs of the case."""
    outcomes = run_plan(planned, [(item, "grid")] * count, workers)
    return [outcome.output for outcome in outcomes if outcome.output is not None]


def _filled(planned: PlannedJobs, item: Prepared, workers: Workers) -> torch.Tensor | None:
    """The result with an absurd number in masked-off lanes; None if no lane is undefined."""
    kernels = fill_undefined_lanes(planned.plan.kernels)
    if kernels is None:
        return None
    return next(iter(_results(planned.with_kernels(kernels), item, workers, 1)), None)


def _magnitude(exercise: Exercise, failure: Failure) -> torch.Tensor | None:
    result = returned_tensor(exercise, failure.expectation.result)
    if result.magnitude is None:
        return None
    return result.magnitude(*widened(failure.evidence.args))


def gpu_properties() -> dict[str, Any]:
    """What a launcher may ask of the GPU of this machine."""
    try:
        device = torch.cuda.get_device_properties(0)
    except (AssertionError, RuntimeError):  # torch reports a GPU and cannot reach it
        return {}
    names = ("name", "major", "minor", "multi_processor_count", "total_memory", "L2_cache_size")
    return {name: getattr(device, name) for name in names if hasattr(device, name)}


def gpu_capability() -> tuple[str, int]:
    """The name of the GPU of this machine, and its compute capability: 90 is sm_90."""
    major, minor = torch.cuda.get_device_capability(0)
    return torch.cuda.get_device_name(0), 10 * major + minor
