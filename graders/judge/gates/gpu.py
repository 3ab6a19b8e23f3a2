"""The gate *gpu*: correct on the GPU too, if there is one and it was asked for."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor

from graders.judge import discovery
from graders.judge.gates import hidden
from graders.judge.gates.hidden import Parts
from graders.judge.gates.protocol import NOT_RUN, Context, GateResult
from graders.judge.records import Exercise, GraderError
from graders.judge.running.gpu import gpu_capability, gpu_gate
from graders.judge.running.interpret import collect, run_plan
from graders.judge.running.traffic import compared
from graders.judge.sandbox.gpu_lock import hold_gpu
from triton_util.report import Finding, GateStatus, Speed


def prepare(context: Context) -> None:
    """Do what the processor can do before the GPU runs: compile, and draw the large cases."""
    exercise, runtime = context.exercise, context.runtime
    if not runtime.has_gpu or gpu_capability()[1] < exercise.least_capability:
        return
    with ThreadPoolExecutor(1) as beside:
        drawing = beside.submit(runtime.large_cases, exercise)
        context.planned.build(runtime.cases(exercise), runtime.workers("cuda"))
        drawing.result()
    if runtime.official and runtime.timed:
        bars = _speed_bars(exercise)
        runtime.stopwatch().prepare(context.submission, exercise, bars)


def run(context: Context) -> GateResult:
    """Run all public cases and the large ones."""
    exercise, runtime, facts = context.exercise, context.runtime, context.facts
    if runtime.mode == "interpret":
        return NOT_RUN
    if not runtime.has_gpu:
        if runtime.mode == "gpu":
            raise GraderError(
                "there is no GPU here: grade with --mode interpret, or on a machine with one"
            )
        return NOT_RUN
    remark = _too_old(exercise.least_capability) if exercise.least_capability else None
    if remark is not None:
        return GateResult(GateStatus.NOT_RUN, remarks=(remark,))
    with contextlib.suppress(Exception):  # an error here occurs again where the result is needed
        if "gpu" in context.ahead:
            context.ahead["gpu"].result()
        else:
            prepare(context)
    cases, large = runtime.cases(exercise), runtime.large_cases(exercise)
    workers = runtime.workers("cuda")
    used, compiled = workers.gpu_seconds, workers.compiled_there
    with hold_gpu(exclusive=False):
        ran, findings = gpu_gate(context.planned, exercise, cases, large, workers)
    facts.gpu_seconds += workers.gpu_seconds - used
    facts.compiled_on_gpu += workers.compiled_there - compiled
    facts.failed_parts |= ran.failed_parts()
    facts.public_failed_parts |= ran.failed_parts()
    return GateResult.of(findings)


def official(context: Context) -> GateResult:
    """Run the hidden cases, and time the submission if it is correct."""
    exercise, runtime = context.exercise, context.runtime
    plan = [(item, "grid") for item in runtime.cases(exercise, hidden=True)]

    def failed() -> Parts:
        planned, workers = context.hidden_jobs, runtime.workers("cuda")
        planned.build([item for item, _ in plan], workers)
        with hold_gpu(exclusive=False):
            ran = collect(plan, run_plan(planned, plan, workers))
        return ran.failed_parts(), False

    result = hidden.graded("gpu", context, failed)
    if runtime.timed and not context.facts.failed_parts:
        context.facts.speed = _speed(context)
    return result


def _speed_bars(exercise: Exercise) -> tuple[tuple[float, int], ...]:
    secret = discovery.hidden(exercise.name)
    return secret.speed_bars if secret is not None else ()


def _speed(context: Context) -> Speed | None:
    """How fast a correct submission is, if the exercise has bars for that."""
    exercise, runtime = context.exercise, context.runtime
    return runtime.stopwatch().speed(
        context.submission,
        exercise,
        _speed_bars(exercise),
        context.facts.resources,
        lambda: compared(
            context.planned, exercise, runtime.cases(exercise), runtime.workers("cpu")
        ),
    )


def _too_old(least: int) -> Finding | None:
    """The remark that this GPU is too old for the exercise; it costs nothing."""
    device, capability = gpu_capability()
    if capability >= least:
        return None
    return Finding(
        gate="gpu",
        code="gpu-too-old",
        title="This GPU is too old for the kernel",
        message=(
            f"The exercise needs a GPU from sm_{least} on, and this one, {device}, is "
            f"sm_{capability}. So the kernel was compiled and interpreted, and did not run on the "
            "GPU."
        ),
        next_step="Nothing is wrong with it. Grade it again where there is a newer GPU.",
    )
