"""What a judge keeps between submissions: warm processes, prepared cases, and its settings."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal

import torch

from graders.judge import discovery
from graders.judge.calling.calls import Call, made_calls
from graders.judge.cases.prepared import Prepared, prepare, seed_of
from graders.judge.compiling.process import CompileWorker
from graders.judge.launch_trace.gate import Captured, capture
from graders.judge.records import Case, Exercise, GraderError
from graders.judge.running.gpu import gpu_capability, gpu_properties
from graders.judge.sandbox import protocol
from graders.judge.sandbox.deadline import Deadline, not_counted
from graders.judge.sandbox.pool import Workers
from graders.judge.sandbox.starting import idle_processors
from graders.judge.speed.watched import WatchedWorkers
from graders.judge.submission.loading import Submission

if TYPE_CHECKING:
    from graders.judge.speed.gate import Stopwatch

Mode = Literal["interpret", "gpu", "all"]
IDLE_FOR_SECOND = 4  # processors that make a second compiling process worthwhile


class Runtime:
    """Starts processes and prepares cases when they are first asked for; `close` ends them.

    The settings are those of `Judge`.
    """

    def __init__(
        self,
        mode: Mode = "interpret",
        official: bool = False,
        allow_unsandboxed: bool = False,
        timed: bool = True,
        secret: bytes | None = None,
    ) -> None:
        self.mode = mode
        self.official = official
        self.allow_unsandboxed = allow_unsandboxed
        self.timed = timed
        self._secret = secret or secrets.token_bytes(32)
        self.deadline = Deadline()  # of the submission that is being judged
        self._processes = ExitStack()
        self._workers: dict[str, Workers] = {}
        self._compiler: CompileWorker | None = None
        self._second_compiler: CompileWorker | None = None
        self._prepared: dict[tuple[str, bool], list[Prepared]] = {}
        self._prepared_large: tuple[str, list[Prepared]] = "", []
        self._prepared_others: tuple[object, list[Prepared]] = None, []
        self._stopwatch: Stopwatch | None = None
        self._starting = {name: threading.Lock() for name in ("cpu", "cuda", "compiler")}

    def close(self) -> None:
        """End the warm processes."""
        self._processes.close()
        self._workers.clear()
        self._compiler = self._second_compiler = None

    @property
    def has_gpu(self) -> bool:
        """Whether there is a GPU and kernels shall run on it."""
        return self.mode != "interpret" and torch.cuda.is_available()

    def warm(self, second: bool = False) -> None:
        """Start every process that a submission needs, all of them at once.

        second: start a second process that compiles, too, if a GPU would have to wait for the first
        and processors are idle.
        """
        with ThreadPoolExecutor(4, thread_name_prefix="start") as threads:
            if second and self.has_gpu and idle_processors() >= IDLE_FOR_SECOND:
                threads.submit(self._start_second_compiler)
            running = threads.submit(self.workers, "cpu")
            compiling = threads.submit(self.compiler)
            if self.has_gpu:
                threads.submit(self.workers, "cuda")  # the gate *gpu* reports what fails there
            running.result()
            compiling.result()

    def progress(self) -> tuple[int, int]:
        """How many of the cases that run now on the CPU are done, and how many there are."""
        workers = self._workers.get("cpu")
        return (0, 0) if workers is None else workers.progress

    def workers(self, device: Literal["cpu", "cuda"]) -> Workers:
        """Jailed workers; raises GraderError if the sandbox is too weak for an official grade."""
        with self._starting[device]:
            if device not in self._workers:
                self._workers[device] = self._processes.enter_context(_made_for(device))
        workers = self._workers[device]
        if device == "cpu":
            workers.deadline = self.deadline
        if self.official and workers.tier != "A" and not self.allow_unsandboxed:
            missing = "; ".join(f"{k}: {v}" for k, v in workers.layers.items() if "missing" in v)
            raise GraderError(
                f"the sandbox here is of tier {workers.tier} and not A ({missing}): fix it, or "
                "grade with --allow-unsandboxed, which is stamped on the reports"
            )
        return workers

    def compiler(self) -> CompileWorker:
        """The process that compiles kernels, and calls launchers to capture what they launch."""
        with self._starting["compiler"]:
            if self._compiler is None:
                self._compiler = self._processes.enter_context(CompileWorker())
                self._compiler.ptxas(90)  # any request starts the process
            return self._compiler

    def second_compiler(self) -> CompileWorker | None:
        """The second process that compiles, if `warm` has started one."""
        return self._second_compiler

    def _start_second_compiler(self) -> None:
        if self._second_compiler is None:
            second = self._processes.enter_context(CompileWorker())
            second.ptxas(90)
            self._second_compiler = second

    def stopwatch(self) -> Stopwatch:
        """The object that times submissions on the GPU of this machine."""
        if self._stopwatch is None:
            from graders.judge.speed.gate import Stopwatch  # imported late: only a GPU needs it

            workers = self.workers("cuda")
            assert isinstance(workers, WatchedWorkers)
            self._stopwatch = Stopwatch(workers, self.capture_others)
        return self._stopwatch

    def stop_building(self) -> None:
        """End the compilations ahead for a GPU: the submission will not reach it."""
        workers = self._workers.get("cuda")
        if workers is not None:
            workers.stop_building()

    def cases(self, exercise: Exercise, hidden: bool = False) -> list[Prepared]:
        """The public or hidden cases of an exercise, with the same numbers for all submissions."""
        key = exercise.name, hidden
        if key not in self._prepared:
            with not_counted():
                made = prepare(exercise, self._cases(exercise, hidden), self._secret)
            self._prepared[key] = made
        return self._prepared[key]

    def calls(self, exercise: Exercise, source: str, hidden: bool = False) -> list[Call]:
        """The calls of a plain function, with arguments that no other submission gets."""
        assert exercise.function is not None
        seed = seed_of(self._secret, exercise.name, source, hidden)
        return made_calls(exercise, exercise.function, self._cases(exercise, hidden), seed)

    def _cases(self, exercise: Exercise, hidden: bool) -> tuple[Case, ...]:
        known = discovery.hidden(exercise.name) if self.official else None
        if self.official and known is None:
            raise GraderError(
                f"no hidden cases for {exercise.name}: grade from the instructor's clone, or use "
                "`tilewise check`"
            )
        return known.cases if hidden and known is not None else exercise.cases

    def large_cases(self, exercise: Exercise) -> list[Prepared]:
        """The cases for a GPU only. Only one exercise's are cached: they fill much memory."""
        name, large = self._prepared_large
        if name != exercise.name:
            with not_counted():
                large = prepare(exercise, exercise.large, self._secret, len(exercise.cases))
            self._prepared_large = exercise.name, large
        return large

    def capture(self, submission: Submission, exercise: Exercise, hidden: bool = False) -> Captured:
        """What the launcher asks for, in every public or in every hidden case."""
        if self._compiler is None:
            self.warm()
        self.workers("cpu")  # raises without a sandbox: untrusted Python runs next
        cases = [*self._cases(exercise, hidden)]
        gpu = None
        if self.has_gpu:
            cases += () if hidden else exercise.large
            gpu = gpu_properties()
        return capture(submission, exercise, cases, self.compiler(), gpu, hidden)

    def capture_others(
        self, submission: Submission, exercise: Exercise, cases: Sequence[Case], hidden: bool = True
    ) -> Captured:
        """What a launcher asks for in other cases, on this GPU."""
        gpu = gpu_properties() if torch.cuda.is_available() else None
        return capture(submission, exercise, cases, self.compiler(), gpu, hidden)

    def prepared(self, exercise: Exercise, cases: tuple[Case, ...]) -> list[Prepared]:
        """These cases with their tensors. Those of the last request are kept: it may be repeated.

        A learner who changes a formula and checks again has the same constants and the same cases.
        """
        key = exercise.name, cases
        if self._prepared_others[0] != key:
            with not_counted():
                made = prepare(exercise, cases, self._secret)
            self._prepared_others = key, made
        return self._prepared_others[1]

    def secret_number(self, exercise: Exercise) -> int:
        """A number that only this judge knows, from which cases are chosen."""
        return seed_of(self._secret, exercise.name, "constructed")

    def tier_for_report(self) -> str:
        """The sandbox tier as a report states it; "none" if no sandbox was available."""
        try:
            tier = self.workers("cpu").tier
        except GraderError:  # nothing ran, so nothing needed a sandbox
            return "none"
        stamped = self.official and tier != "A"
        return f"{tier} (--allow-unsandboxed)" if stamped else tier


def _made_for(device: protocol.Device) -> Workers:
    if device == "cpu":
        return Workers()
    try:
        return WatchedWorkers(capability=gpu_capability()[1])
    except (AssertionError, RuntimeError):  # torch reports a GPU and cannot reach it
        return WatchedWorkers()
