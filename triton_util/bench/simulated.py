"""Simulated GPUs with a virtual clock, each with a trap for a stopwatch.

    from triton_util.bench import simulated

    print(simulated.table(my_stopwatch))   # measured against true, on each of them

Nothing is executed and nothing waits: a call advances two virtual times, that of the host and
that of the GPU's queue. So a result is the same on every machine and under every load.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

CALLS_AT_MOST = 30_000
TOLERANCE = 0.03
HOT_WITHIN_MS = 1000.0  # busy time within this period heats the GPU


@dataclass(frozen=True)
class Model:
    """The properties of one GPU. Times in ms of the virtual clocks.

    kernel_ms: the true time of a cold call with fresh inputs at the usual clock. launch_ms: the
    host's time for a launch. compile_ms: what the first launch adds on the host. warm_factor: how
    much faster a call is with its inputs in the L2 cache. ramp_ms and ramp_factor: the GPU is
    slower by the factor until it has been busy for this long. hot_after_ms and hot_factor: it is
    slower by the factor if busy for longer than that within a second. zeros_factor: the time with
    inputs of zeros, as a fraction; with in_place a call leaves zeros in its inputs. outlier_every:
    one call in so many is slow, another one fast. host_tick_ms: the step of the host's clock.
    """

    name: str
    trap: str
    kernel_ms: float
    launch_ms: float = 0.008
    compile_ms: float = 0.0
    warm_factor: float = 1.0
    ramp_ms: float = 0.0
    ramp_factor: float = 1.0
    hot_after_ms: float = math.inf
    hot_factor: float = 1.0
    zeros_factor: float = 1.0
    in_place: bool = False
    outlier_every: int = 0
    outlier_factor: float = 12.0
    lucky_factor: float = 0.8
    host_tick_ms: float = 0.0001


MODELS = (
    Model(
        "asynchronous",
        "A launch returns at once. The host's clock sees the launch, not the kernel.",
        kernel_ms=0.24,
    ),
    Model(
        "compiling",
        "The first call compiles for a long time, and is no measure of the kernel.",
        kernel_ms=0.5,
        compile_ms=900.0,
    ),
    Model(
        "remembering",
        "What was touched last lies in the L2 cache, also inputs that were just made.",
        kernel_ms=0.18,
        warm_factor=0.45,
    ),
    Model(
        "sleepy",
        "Its clocks are low until it has been busy for some tens of milliseconds.",
        kernel_ms=0.4,
        ramp_ms=30.0,
        ramp_factor=1.7,
    ),
    Model(
        "hot-headed",
        "Busy for too long without a pause, it lowers its clocks.",
        kernel_ms=1.0,
        hot_after_ms=400.0,
        hot_factor=1.12,
    ),
    Model(
        "fond of zeros",
        "Zeros cost less power, so it runs faster; and the kernel turns its inputs into zeros.",
        kernel_ms=0.6,
        zeros_factor=0.85,
        in_place=True,
    ),
    Model(
        "disturbed",
        "One call in twenty is disturbed and slow; another one is lucky and fast.",
        kernel_ms=0.3,
        outlier_every=20,
    ),
    Model(
        "coarse",
        "The host's clock moves in steps of ten milliseconds.",
        kernel_ms=0.7,
        host_tick_ms=10.0,
    ),
    Model(
        "short",
        "The kernel is shorter than its launch: the GPU waits for the host.",
        kernel_ms=0.003,
        launch_ms=0.009,
    ),
)


def models(seed: int = 0) -> tuple[Model, ...]:
    """The nine GPUs; a seed other than 0 changes their kernels' times by up to a third."""
    draw = random.Random(seed)
    factors = [draw.uniform(0.75, 1.33) if seed else 1.0 for _ in MODELS]
    return tuple(
        replace(model, kernel_ms=model.kernel_ms * factor)
        for model, factor in zip(MODELS, factors, strict=True)
    )


class StopwatchError(RuntimeError):
    """A stopwatch does what no GPU allows; the message says what and why, `code` in short.

    `over` says that the stopwatch would not end on any other GPU either.
    """

    def __init__(self, code: str, message: str, over: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.over = over


What = Literal["launch", "flush", "inputs", "event", "wait", "clock"]
Mark = Literal["first", "cached", "ramp", "hot", "zeros", "disturbed"]


@dataclass(slots=True)
class Step:
    """One action of a stopwatch. Times are the GPU's; for a wait and the clock, the host's.

    marks: why a launch took longer or shorter than the true time. read: the event's time was read.
    """

    what: What
    begin: float
    end: float
    marks: tuple[Mark, ...] = ()
    read: bool = False


@dataclass
class Inputs:
    """The tensors of one call, reduced to what affects its time."""

    zeros: bool = False


class Event:
    """A mark in the GPU's queue. `ms` is the time at which the GPU passed it."""

    def __init__(self, gpu: SimulatedGpu, step: Step) -> None:
        self._gpu, self._step = gpu, step

    @property
    def ms(self) -> float:
        """Milliseconds on the GPU's clock; only differences mean something."""
        self._gpu._host(0.0)
        if self._step.end > self._gpu._waited_until:
            raise StopwatchError(
                "event-read-early",
                "An event was read before the host waited for it: call gpu.synchronize() first.",
            )
        self._step.read = True
        return self._step.end


class SimulatedGpu:
    """One GPU and the one kernel that runs on it.

    `run(*inputs)` launches and returns at once, `fresh_inputs()` makes inputs. The host calls
    `clock()`, `synchronize()`, `record()` and `flush_l2()`. `model` has the true values, `steps`
    all actions so far.
    """

    FRESH_MS = 0.05  # on the GPU: making the inputs
    FLUSH_MS = 0.06  # on the GPU: writing as many bytes as the cache holds
    CALL_MS = 0.002  # on the host: any call but a launch

    def __init__(self, model: Model, seed: int = 1, first_turn: int | None = None) -> None:
        """first_turn: where in its cycle of disturbances it begins; drawn at random if None."""
        self.model = model
        self.steps: list[Step] = []
        self._random = random.Random(f"{model.name} {seed}")
        drawn = self._random.randrange(20)
        self._first_turn = drawn if first_turn is None else first_turn
        self._now = self._free = self._waited_until = 0.0
        self._lately: deque[tuple[float, float]] = deque()  # (end, ms) of each piece of work
        self._busy_ms = self._lately_ms = 0.0
        self._launches = self._calls = 0
        self._cached: Inputs | None = None

    def clock(self) -> float:
        """Milliseconds on the host's clock."""
        self._host(self.CALL_MS / 10)
        self.steps.append(Step("clock", self._now, self._now))
        tick = self.model.host_tick_ms
        return math.floor(self._now / tick) * tick

    def synchronize(self) -> None:
        """Wait on the host until the GPU has done everything that was launched."""
        self._host(self.CALL_MS)
        self._now = max(self._now, self._free)
        self._waited_until = self._now
        self.steps.append(Step("wait", self._now, self._now))

    def record(self) -> Event:
        """Put a mark after everything launched so far."""
        self._host(self.CALL_MS)
        passed = max(self._now, self._free)
        self.steps.append(Step("event", passed, passed))
        return Event(self, self.steps[-1])

    def flush_l2(self) -> None:
        """Let the GPU write other memory, so that the cache no longer contains the inputs."""
        self._host(self.CALL_MS)
        self._work("flush", self.FLUSH_MS)
        self._cached = None

    def fresh_inputs(self) -> tuple[Inputs, ...]:
        """New inputs, filled with noise on the GPU."""
        self._host(self.CALL_MS)
        self._work("inputs", self.FRESH_MS)
        self._cached = Inputs()
        return (self._cached,)

    def run(self, inputs: Inputs) -> None:
        """Launch the kernel on the inputs."""
        self._launches += 1
        self._host(self.model.launch_ms + (self.model.compile_ms if self._launches == 1 else 0.0))
        ms, marks = self._kernel_ms(inputs)
        self._work("launch", ms, marks)
        self._cached = inputs
        inputs.zeros = inputs.zeros or self.model.in_place

    def _host(self, ms: float) -> None:
        """Advance the host's time; this stops a stopwatch that never ends."""
        self._calls += 1
        if self._calls > CALLS_AT_MOST:
            raise StopwatchError(
                "too-many-calls",
                f"More than {CALLS_AT_MOST:,} calls, and no end: a few dozen launches are enough.",
                over=True,
            )
        self._now += ms

    def _work(self, what: What, ms: float, marks: tuple[Mark, ...] = ()) -> None:
        """Put work into the GPU's queue: it begins once it was launched and the GPU is free."""
        begin = max(self._free, self._now)
        self._free = begin + ms
        self.steps.append(Step(what, begin, self._free, marks))
        self._lately.append((self._free, ms))
        self._busy_ms += ms
        self._lately_ms += ms

    def _kernel_ms(self, inputs: Inputs) -> tuple[float, tuple[Mark, ...]]:
        """How long this call of the kernel takes, and which effects changed its time."""
        model, draw = self.model, self._random
        ms = model.kernel_ms * (1 + draw.gauss(0.0, 0.004))
        turn = -1
        if model.outlier_every:
            turn = (self._launches + self._first_turn) % model.outlier_every
        influences: tuple[tuple[Mark, bool, float], ...] = (
            ("first", self._launches == 1, 1.0),
            ("cached", inputs is self._cached, model.warm_factor),
            ("ramp", self._busy_ms < model.ramp_ms, model.ramp_factor),
            ("hot", self._lately_busy() > model.hot_after_ms, model.hot_factor),
            ("zeros", inputs.zeros, model.zeros_factor),
            ("disturbed", turn == 0, model.outlier_factor),
            ("disturbed", turn == 7, model.lucky_factor),
        )
        there = [influence for influence in influences if influence[1]]
        for _, _, factor in there:
            ms *= factor
        return ms, tuple(mark for mark, _, factor in there if factor != 1.0 or mark == "first")

    def _lately_busy(self) -> float:
        """How long the GPU has been busy within the last second."""
        begin = max(self._free, self._now) - HOT_WITHIN_MS
        while self._lately and self._lately[0][0] < begin:
            self._lately_ms -= self._lately.popleft()[1]
        return self._lately_ms


Stopwatch = Callable[[Callable[..., None], Callable[[], tuple[Inputs, ...]], SimulatedGpu], float]


@dataclass(frozen=True)
class Attempt:
    """The time that a stopwatch reports for one GPU; `error` if it failed."""

    model: Model
    measured_ms: float = math.nan
    error: str = ""

    @property
    def factor(self) -> float:
        """The measured time divided by the true one; 1 is correct."""
        return self.measured_ms / self.model.kernel_ms

    @property
    def holds(self) -> bool:
        """Whether the time is within 3 percent of the true one."""
        return not self.error and abs(self.factor - 1) <= TOLERANCE


def attempt(stopwatch: Stopwatch, model: Model, seed: int = 1) -> Attempt:
    """Let a stopwatch measure the kernel of one GPU."""
    gpu = SimulatedGpu(model, seed)
    try:
        measured = stopwatch(gpu.run, gpu.fresh_inputs, gpu)
    except Exception as error:  # the table shows every error
        return Attempt(model, error=f"{type(error).__name__}: {error}")
    if not isinstance(measured, int | float):
        return Attempt(model, error=f"returned {type(measured).__name__}, not a number")
    return Attempt(model, float(measured))


def table(stopwatch: Stopwatch, seed: int = 0) -> str:
    """A line for each GPU: measured, true, and the trap if it affected the stopwatch."""
    attempts = [attempt(stopwatch, model) for model in models(seed)]
    lines = [f"{'GPU':14} {'measured':>12} {'true':>12}  {'measured / true':>15}"]
    for tried in attempts:
        model, verdict = tried.model, "right" if tried.holds else f"WRONG  {tried.model.trap}"
        said = f"{tried.measured_ms:9.4f} ms"
        if tried.error:
            said, verdict = f"{'none':>12}", tried.error
        factor = "" if tried.error else f"{tried.factor:15.2f}"
        lines.append(f"{model.name:14} {said} {model.kernel_ms:9.4f} ms  {factor:>15}  {verdict}")
    held = sum(tried.holds for tried in attempts)
    lines.append(f"within {TOLERANCE:.0%} of the truth on {held} of {len(attempts)} GPUs")
    return "\n".join(lines)
