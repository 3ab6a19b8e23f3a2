"""The misconceptions about a stopwatch, causes before their consequences."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from graders.course.benchmarking.mistakes.trace import SMALL, Trace
from graders.judge.records import Evidence, Misconception

Detector = Callable[[Evidence], bool]


def _seen(look: Callable[[Trace], bool]) -> Detector:
    """A detector that looks at what was done, where a figure came of it."""
    return lambda evidence: evidence.actual is not None and look(Trace.of(evidence))


def _never_launched(trace: Trace) -> bool:
    return trace.launches == 0


def _not_divided(trace: Trace) -> bool:
    """The time of many calls stands for that of one."""
    several = [piece.ms for piece in trace.intervals if len(piece.launches) > 1]
    total = dict(trace.combined()).get("sum", 0.0)
    return any(map(trace.alike, several)) or (len(trace.intervals) > 1 and trace.alike(total))


def _not_waited(trace: Trace) -> bool:
    """The host's clock, and no wait between the launch and the last reading."""
    readings = sum(step.what == "clock" for step in trace.steps)
    pieces = trace.intervals
    unwaited = any(piece.waits == 0 for piece in pieces)
    return not trace.by_events and unwaited and readings <= 2 * len(pieces)


def _hosts_clock(trace: Trace) -> bool:
    return not trace.by_events and bool(trace.intervals)


def _other_work(trace: Trace) -> bool:
    """Between the two marks the GPU makes inputs or flushes."""
    return _half(trace, [bool(piece.others) for piece in trace.intervals])


def _gap(trace: Trace) -> bool:
    """Between the two marks the GPU waits for the host, for a part of the time that counts."""
    least = SMALL * trace.model.kernel_ms
    return _half(trace, [piece.idle_ms > least for piece in trace.intervals])


def _half(trace: Trace, shown: list[bool]) -> bool:
    return trace.by_events and bool(shown) and 2 * sum(shown) >= len(shown)


def _several(trace: Trace) -> bool:
    """One pair of events around many calls."""
    return _half(trace, [len(piece.launches) > 1 for piece in trace.intervals])


def _compiled(trace: Trace) -> bool:
    """The first launch, which compiles, is among those that are measured, and has weight."""
    first = any("first" in step.marks for piece in trace.intervals for step in piece.launches)
    return first and trace.model.compile_ms > 0


def _asleep(trace: Trace) -> bool:
    return trace.mostly("ramp")


def _flushed_too_early(trace: Trace) -> bool:
    """It flushes, and the inputs are made behind that."""
    return trace.mostly("cached") and trace.flushed_too_early


def _hot(trace: Trace) -> bool:
    """Half of the calls came when the GPU was hot; or those that did give the figure."""
    ran_hot = [p.ms for p in trace.intervals if any("hot" in step.marks for step in p.launches)]
    if trace.measured is None or not ran_hot:
        return trace.mostly("hot")
    of_hot = median(ran_hot)
    return trace.mostly("hot") or abs(trace.measured - of_hot) <= SMALL * of_hot


def _few(trace: Trace) -> bool:
    """So few calls that one that is disturbed may be the median."""
    measured = [step for piece in trace.intervals for step in piece.launches]
    return len(measured) < 5 and any("disturbed" in step.marks for step in measured)


MISTAKES = (
    Misconception(
        code="event-read-early",
        title="An event is read before the GPU has reached it",
        message=(
            "`gpu.record()` puts a mark into the queue. Its time is known only when the GPU "
            "has reached it, and the host must wait for that."
        ),
        next_step="Record all events first, then call `gpu.synchronize()` once, then read `.ms`.",
        faults=frozenset({"event-read-early"}),
    ),
    Misconception(
        code="too-many-calls",
        title="The stopwatch does not end",
        message=(
            "It called the GPU 30,000 times without a result. Some dozens of launches are "
            "enough for a median."
        ),
        next_step="Limit the rounds: `for _ in range(51):`.",
        faults=frozenset({"too-many-calls"}),
    ),
    Misconception(
        code="kernel-never-launched",
        title="The kernel is never launched",
        message=("The function returned a result without a call of `run`, so it measured nothing."),
        next_step=(
            "Call `run(*inputs)`: it launches the kernel on the inputs from `fresh_inputs()`."
        ),
        detector=_seen(_never_launched),
    ),
    Misconception(
        code="not-waited-for",
        title="The launch is measured, not the kernel",
        message=(
            "The host's clock is read before the GPU has finished. A launch returns at once, "
            "so this measures the *launch*, whatever the kernel does."
        ),
        next_step=(
            "Use events: `gpu.record()` before and after the launch, then "
            "`gpu.synchronize()`, then the difference of the two `.ms`."
        ),
        detector=_seen(_not_waited),
    ),
    Misconception(
        code="sum-not-divided",
        title="The time of many calls is returned as that of one",
        message="The returned time includes several launches, or is a sum of several times.",
        next_step="Measure one time for each call, and return their median.",
        detector=_seen(_not_divided),
    ),
    Misconception(
        code="hosts-clock",
        title="The host's clock measures more than the kernel",
        message=(
            "The host waits for the GPU, but its time also includes the launch, the wait, and "
            "everything else between the two readings. On one GPU it advances in steps of ten "
            "milliseconds."
        ),
        next_step=(
            "Use events, which are marks in the GPU's queue: `start = gpu.record()`, "
            "`run(*inputs)`, `end = gpu.record()`; after the wait, `end.ms - start.ms`."
        ),
        detector=_seen(_hosts_clock),
    ),
    Misconception(
        code="other-work-between-events",
        title="The GPU does other work between the events",
        message=(
            "Making inputs and flushing the cache are work for the GPU. Here this work is "
            "between the two events, so its time is included."
        ),
        next_step=(
            "Call `fresh_inputs()`, then `gpu.flush_l2()`, then `start = gpu.record()`. "
            "Between the two events call only `run(*inputs)`."
        ),
        detector=_seen(_other_work),
    ),
    Misconception(
        code="gap-before-the-kernel",
        title="The GPU waits for the launch between the events",
        message=(
            "The queue is empty at the first event. So the GPU reaches it at once and waits "
            "for the launch, and the time includes this gap."
        ),
        next_step=(
            "Do not wait between the rounds, and flush the cache right before the first "
            "event. While the GPU flushes, the host gets ahead."
        ),
        detector=_seen(_gap),
    ),
    Misconception(
        code="many-calls-between-events",
        title="One pair of events for many calls gives a mean",
        message=(
            "One pair of events around many calls gives their total. Divided by their number "
            "it is a mean, which one disturbed call changes. Later calls find their inputs in "
            "the cache."
        ),
        next_step=(
            "Record a pair of events for each call, and return the median of the differences."
        ),
        detector=_seen(_several),
    ),
    Misconception(
        code="no-warm-up",
        title="The first calls are measured as well",
        message=(
            "The first call compiles, and an idle GPU has a low clock until it has worked for "
            "some tens of milliseconds. Such calls are among the measured ones."
        ),
        next_step=(
            "Launch some dozens of times with `fresh_inputs()` before the first event, then wait."
        ),
        detector=_seen(lambda trace: _compiled(trace) or _asleep(trace)),
    ),
    Misconception(
        code="same-inputs-again",
        title="The same inputs are used again",
        message=(
            "A kernel may change its inputs. This one leaves zeros, and with zeros it needs "
            "less power and runs faster."
        ),
        next_step="Call `inputs = fresh_inputs()` in every round, before the flush.",
        detector=_seen(lambda trace: trace.mostly("zeros")),
    ),
    Misconception(
        code="flushed-before-the-inputs",
        title="The cache is flushed too early",
        message=(
            "The flush comes before the inputs are made. Making them puts them into the "
            "cache, so the cache is warm when the kernel runs."
        ),
        next_step="First `inputs = fresh_inputs()`, then `gpu.flush_l2()`, then the launch.",
        detector=_seen(_flushed_too_early),
    ),
    Misconception(
        code="warm-cache",
        title="The inputs are in the cache",
        message=(
            "The inputs were used right before, so the kernel finds them in the L2 cache. In "
            "a program, other kernels run in between, and it is slower."
        ),
        next_step="Call `gpu.flush_l2()` between `fresh_inputs()` and the launch.",
        detector=_seen(lambda trace: trace.mostly("cached")),
    ),
    Misconception(
        code="measured-too-long",
        title="The measurement is so long that the clock falls",
        message=(
            "The GPU is busy for hundreds of milliseconds without a pause and lowers its "
            "clock. The measured calls come after that."
        ),
        next_step="Use some dozens of rounds.",
        detector=_seen(_hot),
    ),
    Misconception(
        code="mean-for-median",
        title="The mean includes disturbed calls",
        message=(
            "One call in twenty is disturbed and takes twelve times as long. That raises the "
            "mean by about half."
        ),
        next_step="Return `sorted(times)[len(times) // 2]`.",
        detector=_seen(lambda trace: trace.is_the("mean")),
    ),
    Misconception(
        code="best-for-median",
        title="The best of many calls is luck",
        message=(
            "Some calls are faster than the kernel usually is. The more calls you make, the "
            "more likely the fastest one is such a call."
        ),
        next_step="Return the call in the middle: `sorted(times)[len(times) // 2]`.",
        detector=_seen(lambda trace: trace.is_the("least")),
    ),
    Misconception(
        code="worst-for-median",
        title="The slowest call is a disturbed one",
        message="The largest of many times shows the worst disturbance.",
        next_step="Return the call in the middle: `sorted(times)[len(times) // 2]`.",
        detector=_seen(lambda trace: trace.is_the("most")),
    ),
    Misconception(
        code="too-few-calls",
        title="A single call may be a disturbed one",
        message="So few calls are measured that a disturbed one can decide the result.",
        next_step="Use some dozens of rounds, and return the median of their times.",
        detector=_seen(_few),
    ),
)
