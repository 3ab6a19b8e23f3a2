"""The speed of a right submission, as a share of the model solution's on the same GPU.

Both plans are timed in the sandbox by the same code (`sandbox.timing`), each in a process of its
own, one after the other, with nobody else of ours on the GPU. What the submission's process
reports is held against what it cannot change: the judge's own clock around bursts of calls, the
judge's own reference for the outputs of timed calls, and the time that the hardware needs at
least.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import torch

from graders.judge import discovery
from graders.judge.capture.gate import Captured
from graders.judge.cases import tensors
from graders.judge.cases.compare import Expectation, expect, wrong_elements
from graders.judge.plan.steps import ref_of
from graders.judge.records import Case, Exercise, Workload
from graders.judge.report import KernelResources, Speed
from graders.judge.running.gpu_lock import hold_gpu
from graders.judge.running.jobs import PlannedJobs, result_of
from graders.judge.running.traffic import Moved
from graders.judge.sandbox import protocol
from graders.judge.sandbox.pool import Job, Outcome, Work
from graders.judge.sandbox.watched import WatchedWorkers
from graders.judge.speed import limits
from graders.judge.submission.loading import Submission, load
from triton_util.bench import find_gpu, floor_of, limit_of, median_interval

ROUNDS = 40
BURST_SECONDS = 0.15  # how long a burst takes at the limit
FEWEST_CALLS, MOST_CALLS = 20, 1000
JOB_SECONDS = 90.0
MEMORY_BYTES = 8 << 30
FRESH_SECONDS = 600.0  # for which a time of the model solution is used again
# A copy of constant size is timed in both runs. By more than this share its time may not differ:
# five times what one solution, timed twice, differs by on an H200 (benchmarks/timing.py).
STEADY = 0.05
SLOW = 0.9  # share of the model solution's speed below which a reason is given
WIDEST_LOAD = 128  # bits


@dataclass(frozen=True)
class Inputs:
    """Two sets of arguments on the CPU, and what each must give, on the GPU."""

    sets: tuple[tuple[Any, ...], tuple[Any, ...]]
    expectations: tuple[Expectation, Expectation]


@dataclass(frozen=True)
class TimedRun:
    """One solution as it was timed; milliseconds. `outside_ms` is by the judge's own clock."""

    ms: float
    fastest_ms: float
    yard_ms: float
    outside_ms: float
    problem: str = ""
    when: float = 0.0


class Stopwatch:
    """Times submissions at one exercise after another; keeps what all of them need."""

    def __init__(
        self,
        workers: WatchedWorkers,
        captured: Callable[[Submission, Exercise, Sequence[Case]], Captured],
    ) -> None:
        self._workers = workers
        self._captured = captured
        self._inputs: tuple[str, Inputs] | None = None
        self._model: dict[str, TimedRun] = {}

    def speed(
        self,
        submission: Submission,
        exercise: Exercise,
        bars: Sequence[tuple[float, int]],
        resources: Sequence[KernelResources] = (),
        moved: Callable[[], tuple[Moved, int] | None] = lambda: None,
    ) -> Speed | None:
        """The speed of a submission; None where there is nothing to measure or to compare with.

        moved: counts the bytes of the submission, beside those of the model solution.
        """
        work, model = discovery.workload(exercise.name), discovery.model_path(exercise)
        if work is None or model is None or not bars:
            return None
        nothing = Speed(work.name, _gpu_name(), 0.0, 0.0, 0.0, 0, sum(p for _, p in bars), "")
        try:
            with hold_gpu(exclusive=False):
                inputs = self._prepared(exercise, work)
            with hold_gpu(exclusive=True):
                mine, theirs = self._both(submission, load(model, exercise), exercise, inputs, work)
        except Exception as error:  # ours, whatever it is: it takes nothing from the grade
            return replace(nothing, problem=f"it could not be measured ({error})")
        problem = theirs.problem and f"the model solution: {theirs.problem}"
        problem = problem or mine.problem or _contradiction(mine, theirs, work)
        if problem:
            return replace(nothing, problem=problem)
        fraction = theirs.ms / mine.ms
        why = _why(resources, moved()) if fraction < SLOW else ""
        told = [_compared(fraction), _share_of_limit(mine.ms, work), why]
        return replace(
            nothing,
            ms=round(mine.ms, 5),
            model_ms=round(theirs.ms, 5),
            fraction=round(fraction, 3),
            bonus=sum(points for bar, points in bars if fraction >= bar),
            words=" ".join(part for part in told if part),
        )

    def _both(
        self,
        submission: Submission,
        model: Submission,
        exercise: Exercise,
        inputs: Inputs,
        work: Workload,
    ) -> tuple[TimedRun, TimedRun]:
        """The submission and the model solution, under conditions that are the same."""
        name = model.launcher
        known = self._model.get(name)
        if known is None or time.monotonic() - known.when > FRESH_SECONDS:
            known = self._time(model, exercise, inputs, work)
        mine = self._time(submission, exercise, inputs, work)
        # colder, hotter, or in company
        if not mine.problem and abs(known.yard_ms / mine.yard_ms - 1) > STEADY:
            known = self._time(model, exercise, inputs, work)
        if not known.problem:
            self._model[name] = known
        return mine, known

    def _prepared(self, exercise: Exercise, work: Workload) -> Inputs:
        if self._inputs is None or self._inputs[0] != exercise.name:
            self._inputs = None  # gives the memory of the last exercise back
            self._inputs = exercise.name, prepare(exercise, work)
        return self._inputs[1]

    def _time(
        self, submission: Submission, exercise: Exercise, inputs: Inputs, work: Workload
    ) -> TimedRun:
        captured = self._captured(submission, exercise, [Case(work.name, work.args)])
        case = captured.case(0)
        result = None if case is None else result_of(case, inputs.expectations[0])
        if case is None or case.raised is not None or ref_of(result) is None:
            return TimedRun(
                0.0, 0.0, 1.0, 0.0, "the launcher does not come to a result at this size"
            )
        planned = PlannedJobs(submission.source, captured)
        jobs = jobs_of(planned.work(case, result), inputs, work)
        outcomes, windows = self._workers.clocked(jobs, stop_on=_ENDS, seconds=2 * JOB_SECONDS)
        run = read(outcomes, inputs, windows, (FEWEST_CALLS, FEWEST_CALLS + calls(work)))
        return replace(run, when=time.monotonic())


_ENDS = frozenset(get_args(protocol.Status)) - {"returned"}


def prepare(exercise: Exercise, work: Workload) -> Inputs:
    """Draw two sets of arguments, and compute on the GPU what they must give."""
    seed = int.from_bytes(torch.randint(256, (7,), dtype=torch.uint8).numpy().tobytes(), "big")
    sets = tuple(
        tensors.build(Case(work.name, work.args, seed=seed + number)) for number in range(2)
    )
    expectations = tuple(expect(exercise, _to_gpu(args))[0] for args in sets)
    return Inputs((sets[0], sets[1]), (expectations[0], expectations[1]))


def _to_gpu(args: tuple[Any, ...]) -> tuple[Any, ...]:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return tuple(arg.to(device) if isinstance(arg, torch.Tensor) else arg for arg in args)


def calls(work: Workload) -> int:
    """How many calls a burst has: a fair time on this GPU, and more than the clock's error."""
    gpu = find_gpu(_gpu_name())
    if gpu is None:
        return FEWEST_CALLS * 5
    limit = limit_of(
        sum(limits.least_bytes(work)), work.operations, gpu, tensor_cores=work.tensor_cores
    )
    return max(FEWEST_CALLS, min(MOST_CALLS, int(BURST_SECONDS * 1e3 / limit.ms)))


def jobs_of(plan: Work, inputs: Inputs, work: Workload) -> list[Job]:
    """Timed rounds on both sets of arguments, then a short and a long burst on the first."""
    first, second = inputs.sets
    expected = inputs.expectations[0]
    size = expected.values.numel() * expected.dtype.itemsize
    common: dict[str, Any] = {
        "schedule": protocol.TIMED,
        "seconds": JOB_SECONDS,
        "memory_bytes": MEMORY_BYTES,
    }
    others = tuple(None if number is None else -1 - number for number in plan.inputs)
    seed = int(torch.randint(2**31, ()))
    rounds = replace(plan, inputs=(*plan.inputs, *others), timing={"rounds": ROUNDS, "seed": seed})
    timed = Job(
        work=rounds,
        args=(*first, *second),
        out_shape=(16 * ROUNDS + 2 * size,),
        out_dtype=torch.uint8,
        **common,
    )
    bursts = [
        Job(
            work=replace(plan, timing={"calls": number}),
            args=first,
            out_shape=expected.shape,
            out_dtype=expected.dtype,
            **common,
        )
        for number in (FEWEST_CALLS, FEWEST_CALLS + calls(work))
    ]
    return [timed, *bursts]


def read(
    outcomes: Sequence[Outcome],
    inputs: Inputs,
    windows: Mapping[int, float],
    numbers: tuple[int, int],
) -> TimedRun:
    """What the worker reports, checked. numbers: the calls of the short and of the long burst."""
    stopped = next((outcome for outcome in outcomes if outcome.status != "returned"), None)
    if stopped is not None:
        return TimedRun(0.0, 0.0, 1.0, 0.0, _ended(stopped))
    report = outcomes[0].output
    assert report is not None
    figures = report[: 16 * ROUNDS].view(torch.float64).reshape(ROUNDS, 2)
    outputs = report[16 * ROUNDS :].reshape(2, -1)
    checked = [
        (outputs[0], inputs.expectations[0]),
        (outputs[1], inputs.expectations[1]),
        *((_raw(outcome.output), inputs.expectations[0]) for outcome in outcomes[1:]),
    ]
    outside = (windows.get(2, 0.0) - windows.get(1, 0.0)) * 1e3 / (numbers[1] - numbers[0])
    problem = "the output of a timed call is wrong" if any(_wrong(*c) for c in checked) else ""
    if not bool(figures.isfinite().all()) or bool((figures <= 0).any()):
        return TimedRun(0.0, 0.0, 1.0, outside, "the times that came back are none")
    mine, yard = figures[:, 0].tolist(), figures[:, 1].tolist()
    return TimedRun(
        median_interval(mine).middle, min(mine), median_interval(yard).middle, outside, problem
    )


def _ended(outcome: Outcome) -> str:
    said = f": {outcome.error.message}" if outcome.error is not None else ""
    return f"a timed call did not return a result ({outcome.status}{said})"


def _raw(output: torch.Tensor | None) -> torch.Tensor:
    assert output is not None
    return output.contiguous().view(-1).view(torch.uint8)


def _wrong(raw: torch.Tensor, expectation: Expectation) -> bool:
    device = expectation.values.device
    output = raw.clone().view(expectation.dtype).reshape(expectation.shape).to(device)
    return bool(wrong_elements(output, expectation).any())


def _contradiction(mine: TimedRun, theirs: TimedRun, work: Workload) -> str:
    """Why the times that the worker reported cannot be right; "" where they can."""
    if abs(theirs.yard_ms / mine.yard_ms - 1) > STEADY:
        return (
            f"a copy of 128 MB took {mine.yard_ms:.4f} ms beside the submission and "
            f"{theirs.yard_ms:.4f} ms beside the model solution: something else used the GPU"
        )
    gpu = find_gpu(_gpu_name())
    if gpu is not None:
        kind = {"tensor_cores": work.tensor_cores}
        floor = floor_of(*limits.least_bytes(work), work.operations, gpu, **kind)
        if mine.fastest_ms < floor:
            return f"{mine.fastest_ms:.4f} ms is less than the {floor:.4f} ms that the GPU needs"
    if mine.outside_ms > 1.5 * mine.ms + 0.1:
        return (
            f"its process reports {mine.ms:.4f} ms for a call, but by the judge's own clock a "
            f"call takes {mine.outside_ms:.4f} ms"
        )
    return ""


def _compared(fraction: float) -> str:
    if fraction >= 1:
        return f"As fast as the model solution, or faster: {fraction:.2f} of its speed."
    return f"{fraction:.2f} of the model solution's speed."


def _share_of_limit(ms: float, work: Workload) -> str:
    gpu = find_gpu(_gpu_name())
    if gpu is None:
        return ""
    kind = {"tensor_cores": work.tensor_cores}
    limit = limit_of(sum(limits.least_bytes(work)), work.operations, gpu, **kind)
    what = "memory" if limit.bound == "memory" else "arithmetic"
    return f"That is {100 * limit.ms / ms:.0f} % of what the GPU's {what} allows."


def _why(resources: Sequence[KernelResources], moved: tuple[Moved, int] | None) -> str:
    """The likeliest reason for being slow, where one is known."""
    if moved is not None and moved[1] and moved[0].total > 1.3 * moved[1]:
        return (
            f"It moves {moved[0].total / moved[1]:.1f} times the bytes of the model solution. "
            f"{moved[0].worst()}".rstrip()
        )
    spilling = next((made for made in resources if made.spill_bytes), None)
    if spilling is not None:
        return (
            f"`{spilling.kernel}` spills {spilling.spill_bytes:,} bytes per thread to slow "
            "memory: use smaller blocks, or more warps."
        )
    widths = [made.load_bits for made in resources if made.load_bits]
    if widths and min(widths) < WIDEST_LOAD:
        return (
            f"Its loads are {min(widths) // 8} bytes wide for each thread, where "
            f"{WIDEST_LOAD // 8} are possible: let neighbouring lanes load neighbouring elements, "
            "and give each thread several of them."
        )
    return ""


def _gpu_name() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""
