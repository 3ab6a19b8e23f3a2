"""The speed of a correct submission, as a share of the model solution's on the same GPU.

The same code (`plan.timing`) times both plans in the sandbox, each in a process of its own, one
after the other; no other process of ours uses the GPU meanwhile. The judge checks the reports of
the submission's process against what the submission cannot change: the judge's own clock around
bursts of calls, the judge's own reference for the outputs of timed calls, and the least time that
the hardware needs.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import torch

from graders.judge import discovery
from graders.judge.cases.compare import Expectation, wrong_elements
from graders.judge.launch_trace.gate import Captured
from graders.judge.plan.steps import ref_of
from graders.judge.plan.timing import IN_A_GRAPH
from graders.judge.records import Case, Exercise, Workload
from graders.judge.running.jobs import PlannedJobs, result_of
from graders.judge.running.traffic import Moved
from graders.judge.sandbox import protocol
from graders.judge.sandbox.gpu_lock import hold_gpu
from graders.judge.sandbox.pool import Job, Outcome, Work
from graders.judge.speed import model_times
from graders.judge.speed.inputs import Inputs, prepare
from graders.judge.speed.model_times import TimedRun
from graders.judge.speed.watched import WatchedWorkers
from graders.judge.submission.loading import Submission, load
from triton_util.bench import find_gpu, floor_of, limit_of, median_interval
from triton_util.report import KernelResources, Speed

ROUNDS = 40
ROUNDS_SECONDS = 1.5  # after this no more rounds begin, except the last two
BURST_SECONDS = 0.15  # how long a burst takes at the limit
FEWEST_CALLS, MOST_CALLS = 20, 20_000
# After these a job is stopped: a class waits for the GPU, and so slow a kernel reaches no bar.
JOB_SECONDS, BURST_JOB_SECONDS = 15.0, 4.0
MEMORY_BYTES = 8 << 30
# A copy of constant size is timed in both runs. Its time may differ by at most this share, five
# times the difference between two timings of one solution on an H200 (benchmarks/timing.py).
STEADY = 0.05
# A call may take this many times as long by the judge's clock as the worker reports. Without the
# flushes of the rounds it is faster, and a GPU that is busy for longer may lower its clocks.
CLOCKS = 1.5
DRIVER = Path("/proc/driver/nvidia/version")  # names the driver's version
MANY_TIMES = 0.1  # share below which the time is stated as a multiple
SLOW = 0.9  # share of the model solution's speed below which a reason is given
WIDEST_LOAD = 128  # bits


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

    def prepare(
        self, submission: Submission, exercise: Exercise, bars: Sequence[tuple[float, int]]
    ) -> None:
        """Do what is possible before timing: compile both solutions, and draw the arguments.

        An error here occurs again where the result is needed, and is reported there.
        """
        compared = _compared_with(exercise, bars)
        if compared is None:
            return
        work, model = compared
        with contextlib.suppress(Exception), ThreadPoolExecutor(1) as beside:
            known = model_times.find(_model_key(model, work)) is not None
            solutions = [submission] if known else [submission, model]
            drawing = beside.submit(self._drawn, exercise, work)
            for solution in solutions:
                captured = self._captured(solution, exercise, [Case(work.name, work.args)])
                case = captured.case(0)
                if case is not None:
                    planned = PlannedJobs(solution.source, captured)
                    planned.build_for_timing(case, self._workers)
            drawing.result()

    def speed(
        self,
        submission: Submission,
        exercise: Exercise,
        bars: Sequence[tuple[float, int]],
        resources: Sequence[KernelResources] = (),
        moved: Callable[[], tuple[Moved, int] | None] = lambda: None,
    ) -> Speed | None:
        """The speed of a submission; None if there is nothing to measure or to compare with.

        moved: counts the bytes of the submission, next to those of the model solution.
        """
        compared = _compared_with(exercise, bars)
        if compared is None:
            return None
        work, model = compared
        used = self._workers.gpu_seconds
        nothing = Speed(work.name, _gpu_name(), 0.0, 0.0, 0.0, 0, sum(p for _, p in bars), "")
        try:
            inputs = self._drawn(exercise, work)
            with hold_gpu(exclusive=True):
                mine, theirs = self._both(submission, model, exercise, inputs, work)
        except Exception as error:  # our own fault in any case: it costs the grade nothing
            return replace(nothing, problem=f"it could not be measured ({error})")
        nothing = replace(nothing, gpu_seconds=round(self._workers.gpu_seconds - used, 3))
        problem = theirs.problem and f"the model solution: {theirs.problem}"
        problem = problem or mine.problem or _contradiction(mine, theirs, work, inputs)
        if problem:
            return replace(nothing, problem=problem)
        fraction = theirs.ms / mine.ms
        why = _why(resources, moved()) if fraction < SLOW else ""
        told = [_compared(fraction), _share_of_limit(mine.ms, work, inputs), why]
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
        """Time the submission and the model solution under the same conditions."""
        key = _model_key(model, work)
        known = model_times.find(key)
        if known is None:
            self._workers.next_at_once = True
            try:
                known = self._time(model, exercise, inputs, work)
            finally:
                self._workers.next_at_once = False
        mine = self._time(submission, exercise, inputs, work)
        # colder, hotter, or not alone on the GPU
        if not mine.problem and abs(known.yard_ms / mine.yard_ms - 1) > STEADY:
            known = self._time(model, exercise, inputs, work)
        if not known.problem:
            model_times.keep(key, known)
        return mine, known

    def _drawn(self, exercise: Exercise, work: Workload) -> Inputs:
        if self._inputs is not None and self._inputs[0] == exercise.name:
            return self._inputs[1]
        self._inputs = None  # frees the memory of the last exercise
        torch.cuda.empty_cache()
        with hold_gpu(exclusive=False):
            inputs = prepare(exercise, work)
        self._inputs = exercise.name, inputs
        return inputs

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
        run = read(outcomes, inputs, windows, (FEWEST_CALLS, FEWEST_CALLS + calls(work, inputs)))
        return replace(run, when=time.time())


def _model_key(model: Submission, work: Workload) -> str:
    """What the time of a model solution depends on, besides heat and clocks."""
    driver = DRIVER.read_text() if DRIVER.exists() else ""
    versions = (torch.__version__, importlib.metadata.version("triton"))
    return model_times.key_of(_gpu_name(), driver, *versions, work.name, model.source)


_ENDS = frozenset(get_args(protocol.Status)) - {"returned"}


def _compared_with(
    exercise: Exercise, bars: Sequence[tuple[float, int]]
) -> tuple[Workload, Submission] | None:
    """The workload and the model solution; None if no speed is measured."""
    work, model = discovery.workload(exercise.name), discovery.model_path(exercise)
    if work is None or model is None or not bars:
        return None
    return work, load(model, exercise)


def calls(work: Workload, inputs: Inputs) -> int:
    """How many calls a burst has: a fair time on this GPU, and more than the clock's error."""
    gpu = find_gpu(_gpu_name())
    if gpu is None:
        return FEWEST_CALLS * 5
    limit = limit_of(sum(inputs.least_bytes), work.operations, gpu, tensor_cores=work.tensor_cores)
    fair = min(MOST_CALLS, int(BURST_SECONDS * 1e3 / limit.ms))
    return max(FEWEST_CALLS, fair // IN_A_GRAPH * IN_A_GRAPH)


def jobs_of(plan: Work, inputs: Inputs, work: Workload) -> list[Job]:
    """Timed rounds on both sets of arguments, then a short and a long burst on the first."""
    first, second = inputs.sets
    expected = inputs.expectations[0]
    size = expected.values.numel() * expected.dtype.itemsize
    common: dict[str, Any] = {"schedule": protocol.TIMED, "memory_bytes": MEMORY_BYTES}
    others = tuple(None if number is None else -1 - number for number in plan.inputs)
    seed = int(torch.randint(2**31, ()))
    timing = {"rounds": ROUNDS, "seed": seed, "seconds": ROUNDS_SECONDS}
    timed = Job(
        work=replace(plan, inputs=(*plan.inputs, *others), timing=timing),
        args=(*first, *second),
        out_shape=(16 * ROUNDS + 2 * size,),
        out_dtype=torch.uint8,
        seconds=JOB_SECONDS,
        **common,
    )
    bursts = [
        Job(
            work=replace(plan, timing={"calls": number}),
            args=first,
            out_shape=expected.shape,
            out_dtype=expected.dtype,
            seconds=BURST_JOB_SECONDS,
            **common,
        )
        for number in (FEWEST_CALLS, FEWEST_CALLS + calls(work, inputs))
    ]
    return [timed, *bursts]


def read(
    outcomes: Sequence[Outcome],
    inputs: Inputs,
    windows: Mapping[int, float],
    numbers: tuple[int, int],
) -> TimedRun:
    """Check and return the worker's times. numbers: the calls of the short and the long burst.

    A burst that was stopped gives a lower bound for a call; the rounds must agree with it.
    """
    late = next((n for n in (1, 2) if outcomes[n].status == "timeout"), len(outcomes))
    came = outcomes[:late]
    stopped = next((outcome for outcome in came if outcome.status != "returned"), None)
    if stopped is not None:
        return TimedRun(0.0, 0.0, 1.0, 0.0, _ended(stopped))
    report = came[0].output
    assert report is not None
    figures = report[: 16 * ROUNDS].view(torch.float64).reshape(ROUNDS, 2)
    figures = figures[~figures.isnan().all(1)]  # without the rounds that were left out
    outputs = report[16 * ROUNDS :].reshape(2, -1)
    checked = [
        (outputs[0], inputs.expectations[0]),
        (outputs[1], inputs.expectations[1]),
        *((_raw(outcome.output), inputs.expectations[0]) for outcome in came[1:]),
    ]
    outside = _outside(late, windows, numbers)
    problem = "the output of a timed call is wrong" if any(_wrong(*c) for c in checked) else ""
    if not len(figures) or not bool(figures.isfinite().all()) or bool((figures <= 0).any()):
        return TimedRun(0.0, 0.0, 1.0, outside, "the times that came back are none")
    mine, yard = figures[:, 0].tolist(), figures[:, 1].tolist()
    return TimedRun(
        median_interval(mine).middle, min(mine), median_interval(yard).middle, outside, problem
    )


def _outside(late: int, windows: Mapping[int, float], numbers: tuple[int, int]) -> float:
    """The ms of a call by the judge's own clock; a lower bound if burst `late` was stopped."""
    if late <= len(numbers):
        return BURST_JOB_SECONDS * 1e3 / numbers[late - 1]
    return (windows.get(2, 0.0) - windows.get(1, 0.0)) * 1e3 / (numbers[1] - numbers[0])


def _ended(outcome: Outcome) -> str:
    if outcome.status == "timeout":
        return f"its calls had not come to an end after {outcome.seconds or JOB_SECONDS:g} s"
    said = f": {outcome.error.message}" if outcome.error is not None else ""
    return f"a timed call did not return a result ({outcome.status}{said})"


def _raw(output: torch.Tensor | None) -> torch.Tensor:
    assert output is not None
    return output.contiguous().view(-1).view(torch.uint8)


def _wrong(raw: torch.Tensor, expectation: Expectation) -> bool:
    device = expectation.values.device
    # A copy begins at an address where a view of any dtype may begin.
    moved = raw.clone() if device.type == "cpu" else raw.to(device)
    output = moved.view(expectation.dtype).reshape(expectation.shape)
    return bool(wrong_elements(output, expectation).any())


def _contradiction(mine: TimedRun, theirs: TimedRun, work: Workload, inputs: Inputs) -> str:
    """Why the times that the worker reported cannot be correct; "" if they can."""
    if abs(theirs.yard_ms / mine.yard_ms - 1) > STEADY:
        return (
            f"a copy of 128 MB took {mine.yard_ms:.4f} ms beside the submission and "
            f"{theirs.yard_ms:.4f} ms beside the model solution: something else used the GPU"
        )
    gpu = find_gpu(_gpu_name())
    if gpu is not None:
        kind = {"tensor_cores": work.tensor_cores}
        floor = floor_of(*inputs.least_bytes, work.operations, gpu, **kind)
        if mine.fastest_ms < floor:
            return f"{mine.fastest_ms:.4f} ms is less than the {floor:.4f} ms that the GPU needs"
    if mine.outside_ms > CLOCKS * mine.ms:
        return (
            f"its process reports {mine.ms:.4f} ms for a call, but by the judge's own clock a "
            f"call takes {mine.outside_ms:.4f} ms"
        )
    return ""


def _compared(fraction: float) -> str:
    if fraction >= 1:
        return f"As fast as the model solution, or faster: {fraction:.2f} of its speed."
    if fraction < MANY_TIMES:
        return f"It takes {1 / fraction:.0f} times as long as the model solution."
    return f"{fraction:.2f} of the model solution's speed."


def _share_of_limit(ms: float, work: Workload, inputs: Inputs) -> str:
    gpu = find_gpu(_gpu_name())
    if gpu is None:
        return ""
    kind = {"tensor_cores": work.tensor_cores}
    limit = limit_of(sum(inputs.least_bytes), work.operations, gpu, **kind)
    what = "memory" if limit.bound == "memory" else "arithmetic"
    return f"That is {100 * limit.ms / ms:.0f} % of what the GPU's {what} allows."


def _why(resources: Sequence[KernelResources], moved: tuple[Moved, int] | None) -> str:
    """The likeliest reason for being slow, if one is known."""
    if moved is not None and moved[1] and moved[0].total > 1.3 * moved[1]:
        return (
            f"On a smaller case, in the interpreter, it moves {moved[0].total / moved[1]:.1f} "
            f"times the bytes of the model solution. {moved[0].worst('There ')}".rstrip()
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
