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
        title="An event is read before the GPU has passed it",
        message=(
            "`gpu.record()` only puts a mark into the queue. Its time is known when the GPU has "
            "come by, and the host must wait for that before it reads `.ms`."
        ),
        next_step="Record all events first, then `gpu.synchronize()` once, then read them.",
        faults=frozenset({"event-read-early"}),
    ),
    Misconception(
        code="too-many-calls",
        title="The stopwatch comes to no end",
        message=(
            "It called the GPU 30,000 times without a result. Some dozens of launches are enough "
            "for a median; thousands of them heat the GPU up."
        ),
        next_step="Count the rounds: `for _ in range(51):`.",
        faults=frozenset({"too-many-calls"}),
    ),
    Misconception(
        code="kernel-never-launched",
        title="The kernel is never launched",
        message="There is a result, but `run` was not called: nothing was measured.",
        next_step="`run(*inputs)` launches the kernel on the inputs that `fresh_inputs()` gave.",
        detector=_seen(_never_launched),
    ),
    Misconception(
        code="not-waited-for",
        title="The launch is measured, not the kernel",
        message=(
            "The host's clock is read again before the GPU has finished: a launch returns at once, "
            "and the kernel runs while the host is already at the next line. The figure says how "
            "long a *launch* takes, whatever the kernel does."
        ),
        next_step=(
            "Let the GPU take the times itself: `gpu.record()` before and behind the launch, "
            "`gpu.synchronize()`, and then the difference of the two `.ms`."
        ),
        detector=_seen(_not_waited),
    ),
    Misconception(
        code="sum-not-divided",
        title="The time of many calls is given for that of one",
        message="Several launches lie in the time that is returned, or several times were added.",
        next_step="Take one time for each call, and the median of them.",
        detector=_seen(_not_divided),
    ),
    Misconception(
        code="hosts-clock",
        title="The host's clock measures more than the kernel",
        message=(
            "It waits for the GPU, and yet its time holds the launch, the way there and back, and "
            "whatever else happens between the two readings. And it moves in steps: on one of "
            "these machines in steps of ten milliseconds."
        ),
        next_step=(
            "Events are marks in the GPU's own queue: `start = gpu.record()`, `run(*inputs)`, "
            "`end = gpu.record()`; behind the last wait, `end.ms - start.ms`."
        ),
        detector=_seen(_hosts_clock),
    ),
    Misconception(
        code="other-work-between-events",
        title="Between the events the GPU does other work, too",
        message=(
            "Making inputs and flushing the cache are work for the GPU. Here they lie between the "
            "first event and the second, and their time is counted with the kernel's."
        ),
        next_step=(
            "First `inputs = fresh_inputs()`, then `gpu.flush_l2()`, and only then "
            "`start = gpu.record()`; between the two events nothing but `run(*inputs)`."
        ),
        detector=_seen(_other_work),
    ),
    Misconception(
        code="gap-before-the-kernel",
        title="Between the events the GPU waits for the launch",
        message=(
            "The queue is empty when the first event is recorded. So the GPU passes it at once, "
            "and then waits until the launch has arrived: the time holds a gap, which for a short "
            "kernel is longer than the kernel."
        ),
        next_step=(
            "Do not wait between the rounds, and put work into the queue right before the first "
            "event: the flush of the cache does it. While the GPU is busy with that, the host gets "
            "ahead."
        ),
        detector=_seen(_gap),
    ),
    Misconception(
        code="many-calls-between-events",
        title="One pair of events for many calls gives a mean",
        message=(
            "What lies between two events is the time of all calls in between. Divided by their "
            "number it is a mean, which one disturbed call moves; and from the second call on the "
            "inputs lie in the cache, or are not what they were."
        ),
        next_step="A pair of events for each call, and the median of the differences.",
        detector=_seen(_several),
    ),
    Misconception(
        code="no-warm-up",
        title="The first calls are measured, too",
        message=(
            "The first call compiles, and a GPU that has been idle runs with low clocks until it "
            "has been busy for some tens of milliseconds. Here such calls are among those that "
            "count."
        ),
        next_step=(
            "Launch some dozens of times before the first event, and wait: for short kernels "
            "making the inputs keeps the GPU busy, too."
        ),
        detector=_seen(lambda trace: _compiled(trace) or _asleep(trace)),
    ),
    Misconception(
        code="same-inputs-again",
        title="The same inputs are used again",
        message=(
            "A kernel may change its inputs. This one leaves zeros behind, and with zeros it "
            "draws less power and runs faster."
        ),
        next_step="`inputs = fresh_inputs()` in every round, before the flush.",
        detector=_seen(lambda trace: trace.mostly("zeros")),
    ),
    Misconception(
        code="flushed-before-the-inputs",
        title="The cache is flushed too early",
        message=(
            "The flush comes before the inputs are made, and making them leaves them in the "
            "cache: so it is warm again when the kernel runs."
        ),
        next_step="First `inputs = fresh_inputs()`, then `gpu.flush_l2()`, then the launch.",
        detector=_seen(_flushed_too_early),
    ),
    Misconception(
        code="warm-cache",
        title="The inputs lie in the cache",
        message=(
            "They were touched right before, so the kernel finds them in the L2 cache and is "
            "faster than in a program in which other kernels run in between."
        ),
        next_step="`gpu.flush_l2()` between the inputs and the launch.",
        detector=_seen(lambda trace: trace.mostly("cached")),
    ),
    Misconception(
        code="measured-too-long",
        title="The GPU is measured until it is hot",
        message=(
            "Busy for hundreds of milliseconds without a pause, the GPU lowers its clocks, and "
            "the calls that count come after that."
        ),
        next_step="Some dozens of rounds are enough.",
        detector=_seen(_hot),
    ),
    Misconception(
        code="mean-for-median",
        title="The mean takes in what disturbs",
        message=(
            "One call in twenty is disturbed and takes twelve times as long. In the mean it weighs "
            "as much as half a call more for each of the others."
        ),
        next_step="`sorted(times)[len(times) // 2]`, or `statistics.median(times)`.",
        detector=_seen(lambda trace: trace.is_the("mean")),
    ),
    Misconception(
        code="best-for-median",
        title="The best of many calls is luck",
        message=(
            "Now and then a call is faster than the kernel usually is. The more calls, the surer "
            "one of them is, and that one is reported."
        ),
        next_step="`sorted(times)[len(times) // 2]`: the call in the middle.",
        detector=_seen(lambda trace: trace.is_the("least")),
    ),
    Misconception(
        code="worst-for-median",
        title="The slowest call is one that was disturbed",
        message="The largest of many times says how bad a disturbance was.",
        next_step="`sorted(times)[len(times) // 2]`: the call in the middle.",
        detector=_seen(lambda trace: trace.is_the("most")),
    ),
    Misconception(
        code="too-few-calls",
        title="A single call may be a disturbed one",
        message="So few calls are measured that a disturbed one decides the figure.",
        next_step="Some dozens of rounds, and the median of their times.",
        detector=_seen(_few),
    ),
)
