"""The way of a submission through the gates, from source text to a report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

import torch

from graders.judge import discovery
from graders.judge.capture.gate import Captured, capture
from graders.judge.compiling.gate import CompileResult, CompileWorker, compile_gate
from graders.judge.diagnosis.explain import MAX_FINDINGS, explain, explain_tf32
from graders.judge.plain_text import presentable
from graders.judge.progress import Progress
from graders.judge.records import Case, Exercise, GraderError
from graders.judge.report import (
    Finding,
    GateStatus,
    Report,
    Verdict,
    awaits_gpu,
    ungraded_finding,
)
from graders.judge.running.gpu import gpu_gate, gpu_properties
from graders.judge.running.gpu_lock import turn
from graders.judge.running.interpret import RunResult, prepare, run_cases
from graders.judge.running.jobs import PlannedJobs, Prepared
from graders.judge.running.promises import broken_promises
from graders.judge.running.traffic import Moved, compared, measure, traffic_case, traffic_gate
from graders.judge.sandbox.pool import Workers
from graders.judge.sandbox.watched import WatchedWorkers
from graders.judge.static.gate import read_gate
from graders.judge.submission import reader
from graders.judge.submission.loading import Submission, SubmissionError, from_text, load
from graders.judge.submission.refusals import UNREADABLE

if TYPE_CHECKING:
    from graders.judge.speed.gate import Stopwatch

Mode = Literal["interpret", "gpu", "all"]


class Judge:
    """Judges submissions, one after another; a context manager that owns warm processes.

    `official` adds the hidden cases and asks for a sandbox of tier A, unless
    `allow_unsandboxed`, which is stamped on every report; `mode` says which of the running
    gates count; without `timed` no speed is measured, on which no verdict depends. The warm
    processes start when they are first needed and serve every later submission.
    """

    def __init__(
        self,
        mode: Mode = "interpret",
        official: bool = False,
        allow_unsandboxed: bool = False,
        timed: bool = True,
    ) -> None:
        self.mode = mode
        self.timed = timed
        self.official = official
        self.allow_unsandboxed = allow_unsandboxed
        self._workers: dict[str, Workers] = {}
        self._compiler: CompileWorker | None = None
        self._prepared: dict[str, list[Prepared]] = {}
        self._prepared_large: tuple[str, list[Prepared]] = "", []
        self._stopwatch: Stopwatch | None = None
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="compile-gate")
        torch.set_num_threads(1)  # the tensors are small: threads would only wait for each other

    def __enter__(self) -> Self:
        reader.shared().start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the warm processes."""
        self._threads.shutdown(wait=True)
        for workers in self._workers.values():
            workers.__exit__(None, None, None)
        self._workers.clear()
        if self._compiler is not None:
            self._compiler.__exit__(None, None, None)
            self._compiler = None

    def warm(self) -> None:
        """Start the processes that the first submission would wait for otherwise."""
        compiling = self._threads.submit(self._warm_compiler)
        reader.shared().start()
        self._running("cpu")
        compiling.result()

    @property
    def tier(self) -> str:
        """The sandbox tier that submissions run at: A enforced, B partial, C none."""
        return self._running("cpu").tier

    def judge(self, path: Path, exercise: Exercise) -> Report:
        """The report for one file and exercise. Faults of ours give an ungraded report."""
        progress = Progress(str(path), exercise, time.perf_counter())
        try:
            submission = load(path, exercise)
        except SubmissionError as error:
            return self._refused(progress, error)
        return self._judge(progress, submission)

    def judge_text(self, text: str, exercise: Exercise, name: str = "<notebook>") -> Report:
        """The same for source text that stands in no file."""
        progress = Progress(name, exercise, time.perf_counter())
        try:
            submission = from_text(text, exercise, name)
        except SubmissionError as error:
            return self._refused(progress, error)
        return self._judge(progress, submission)

    def complete(self, path: Path, exercise: Exercise, report: Report) -> Report:
        """Add the verdict of the GPU to an earlier report on the same submission.

        What the other gates found stays as it is, and none of them runs again. The report
        comes back unchanged where its gates do not let the submission onto a GPU, where one
        has judged already, and where this machine has none.
        """
        if not awaits_gpu(report.gates):
            return report
        if self.mode != "gpu" and not torch.cuda.is_available():
            return report
        progress = Progress(str(path), exercise, time.perf_counter())
        progress.gates, progress.findings = dict(report.gates), list(report.findings)
        progress.cases_passed, progress.cases_total = report.cases_passed, report.cases_total
        progress.resources, progress.remarks = report.resources, list(report.remarks)
        try:
            submission = load(path, exercise)
            captured = self._capture(submission, exercise)
            self._gpu(progress, submission, PlannedJobs(submission.source, captured))
        except (GraderError, SubmissionError) as error:
            fault = error if isinstance(error, GraderError) else GraderError(error.finding.message)
            progress.findings = [ungraded_finding(fault)]
            return self._report(progress, Verdict.UNGRADED)
        fresh = progress.findings[len(report.findings) :]
        placed = [_placed(finding, submission) for finding in fresh]
        progress.findings = [*report.findings, *placed]
        return self._report(progress, _verdict(progress))

    def _refused(self, progress: Progress, error: SubmissionError) -> Report:
        progress.findings.append(error.finding)
        if error.finding.code in UNREADABLE:
            return self._report(progress, Verdict.UNGRADED)
        progress.gates["read"] = GateStatus.FAILED
        return self._report(progress, Verdict.FAILED)

    def _judge(self, progress: Progress, submission: Submission) -> Report:
        try:
            self._pass_gates(progress, submission)
            progress.findings = [_placed(finding, submission) for finding in progress.findings]
        except GraderError as error:
            progress.findings = [ungraded_finding(error)]
            return self._report(progress, Verdict.UNGRADED)
        return self._report(progress, _verdict(progress))

    def _pass_gates(self, progress: Progress, submission: Submission) -> None:
        exercise = progress.exercise
        found = read_gate(submission, exercise)
        captured = None if found else self._capture(submission, exercise)
        progress.close("read", found if captured is None else captured.findings)
        if captured is None or progress.gates["read"] is GateStatus.FAILED:
            return
        planned = PlannedJobs(submission.source, captured)
        compiling = self._threads.submit(
            lambda: compile_gate(submission, captured, self._warm_compiler())
        )
        run = self._interpret(progress, planned)
        self._finish_compile(progress, compiling)
        held = [(item.args, item.expectation) for item in run.passed]
        others = [failure for failure in run.failures if all(failure is not f for f in run.of_tf32)]
        findings = explain(exercise, others, "interpret", held)
        findings += explain_tf32(exercise, run.of_tf32, "interpret")
        progress.close("interpret", findings[:MAX_FINDINGS])
        if progress.gates["interpret"] is GateStatus.PASSED:
            self._traffic(progress, submission, planned)
            progress.remarks += captured.remarks
        if self.mode != "interpret" and progress.gates["interpret"] is GateStatus.PASSED:
            self._gpu(progress, submission, planned)

    def _capture(self, submission: Submission, exercise: Exercise) -> Captured:
        """What the launcher asks for, in every case that may be run."""
        self._running("cpu")  # refuses where the sandbox is none: Python of a stranger runs next
        prepared = self._cases(exercise)
        cases = [item.case for item in prepared]
        gpu = None
        if self.mode != "interpret" and torch.cuda.is_available():
            cases += exercise.large
            gpu = gpu_properties()
        public = sum(not item.hidden for item in prepared)
        return capture(submission, exercise, cases, public, self._warm_compiler(), gpu)

    def _captured(
        self, submission: Submission, exercise: Exercise, cases: Sequence[Case]
    ) -> Captured:
        """What a launcher asks for in other cases, of which none is public, on this GPU."""
        gpu = gpu_properties() if torch.cuda.is_available() else None
        return capture(submission, exercise, cases, 0, self._warm_compiler(), gpu)

    def _warm_compiler(self) -> CompileWorker:
        if self._compiler is None:
            self._compiler = CompileWorker().__enter__()
            self._compiler.ptxas(90)  # asking for anything starts the process
        return self._compiler

    def _finish_compile(self, progress: Progress, compiling: Future[CompileResult]) -> None:
        result = compiling.result()
        progress.close("compile", result.findings)
        progress.slow_to_compile = bool(result.findings) and all(
            finding.code == "compile-timeout" for finding in result.findings
        )
        progress.resources = result.resources

    def _interpret(self, progress: Progress, planned: PlannedJobs) -> RunResult:
        cases = self._cases(progress.exercise)
        run = run_cases(planned, cases, self._running("cpu"), orders=True)
        progress.count(cases, run)
        return run

    def _traffic(self, progress: Progress, submission: Submission, planned: PlannedJobs) -> None:
        cases, workers = self._cases(progress.exercise), self._running("cpu")
        told = traffic_gate(planned, progress.exercise, cases, workers)
        broken = broken_promises(planned, progress.exercise, submission, self._warm_compiler())
        if told is not None or broken:
            findings, progress.remarks = told or ([], [])
            progress.close("traffic", [*broken, *findings])

    def _gpu(self, progress: Progress, submission: Submission, planned: PlannedJobs) -> None:
        if not torch.cuda.is_available():
            if self.mode == "gpu":
                raise GraderError(
                    "there is no GPU here: grade with --mode interpret, or on a machine with one"
                )
            return
        exercise = progress.exercise
        cases, large = self._cases(exercise), self._large(exercise)
        with turn(alone=False):
            run, findings = gpu_gate(planned, exercise, cases, large, self._running("cuda"))
        progress.close("gpu", findings)
        progress.failed_parts |= run.failed_parts()
        progress.public_failed_parts |= run.failed_parts(public_only=True)
        if self.official and self.timed and not findings:
            self._time(progress, submission, planned)

    def _time(self, progress: Progress, submission: Submission, planned: PlannedJobs) -> None:
        """How fast a right submission is, where the exercise has bars for that."""
        from graders.judge.speed.gate import Stopwatch  # nobody without a GPU waits for it

        exercise = progress.exercise
        secret = discovery.hidden(exercise.name)
        workers = self._running("cuda")
        assert isinstance(workers, WatchedWorkers)
        if self._stopwatch is None:
            self._stopwatch = Stopwatch(workers, self._captured)
        progress.speed = self._stopwatch.speed(
            submission,
            exercise,
            secret.speed_bars if secret is not None else (),
            progress.resources,
            lambda: compared(planned, exercise, self._cases(exercise), self._running("cpu")),
        )

    def moved(self, submission: Submission, exercise: Exercise) -> tuple[Moved, int] | None:
        """Bytes that a right submission moves, and the model solution, on the same case."""
        planned = PlannedJobs(submission.source, self._capture(submission, exercise))
        return compared(planned, exercise, self._cases(exercise), self._running("cpu"))

    def traffic_of(
        self, submission: Submission, exercise: Exercise
    ) -> tuple[Prepared, Moved | None] | None:
        """The case on which bytes are counted, and what a submission moves there."""
        item = traffic_case(self._cases(exercise))
        if item is None:
            return None
        planned = PlannedJobs(submission.source, self._capture(submission, exercise))
        return item, measure(planned, item, self._running("cpu"))

    def _cases(self, exercise: Exercise) -> list[Prepared]:
        if exercise.name not in self._prepared:
            prepared = prepare(exercise, exercise.cases, hidden=False)
            if self.official:
                secret = discovery.hidden(exercise.name)
                if secret is None:
                    raise GraderError(
                        f"no hidden cases for {exercise.name}: grade from the instructor's clone, "
                        "or use `tilewise check`"
                    )
                prepared += prepare(exercise, secret.cases, hidden=True, first=len(prepared))
            self._prepared[exercise.name] = prepared
        return self._prepared[exercise.name]

    def _large(self, exercise: Exercise) -> list[Prepared]:
        """The cases for a GPU only. Those of one exercise are kept: they fill much memory."""
        if self._prepared_large[0] != exercise.name:
            first = len(self._cases(exercise))
            large = prepare(exercise, exercise.large, hidden=False, first=first)
            self._prepared_large = exercise.name, large
        return self._prepared_large[1]

    def _running(self, device: Literal["cpu", "cuda"]) -> Workers:
        if device not in self._workers:
            kind = Workers if device == "cpu" else WatchedWorkers
            self._workers[device] = kind(device=device).__enter__()
        workers = self._workers[device]
        if self.official and workers.tier != "A" and not self.allow_unsandboxed:
            missing = "; ".join(f"{k}: {v}" for k, v in workers.layers.items() if "missing" in v)
            raise GraderError(
                f"the sandbox here is of tier {workers.tier} and not A ({missing}): mend it, or "
                "grade with --allow-unsandboxed, which is stamped on the reports"
            )
        return workers

    def _tier_or_none(self) -> str:
        try:
            tier = self.tier
            stamped = self.official and tier != "A"
            return f"{tier} (--allow-unsandboxed)" if stamped else tier
        except GraderError:  # nothing ran, so nothing needed a sandbox
            return "none"

    def _report(self, progress: Progress, verdict: Verdict) -> Report:
        return Report(
            submission=progress.name,
            exercise=progress.exercise.name,
            verdict=verdict,
            points=progress.points(verdict, progress.failed_parts),
            public_points=progress.points(verdict, progress.public_failed_parts),
            max_points=progress.exercise.max_points,
            gates=dict(progress.gates),
            findings=tuple(map(presentable, progress.findings)),
            sandbox=self._tier_or_none(),
            seconds=time.perf_counter() - progress.started,
            cases_passed=progress.cases_passed,
            cases_total=progress.cases_total,
            resources=progress.resources,
            speed=progress.speed,
            remarks=tuple(map(presentable, progress.remarks)),
        )


def _verdict(progress: Progress) -> Verdict:
    failed = any(status is GateStatus.FAILED for status in progress.gates.values())
    return Verdict.FAILED if failed else Verdict.PASSED


def _placed(finding: Finding, submission: Submission) -> Finding:
    """The finding with its line counted from the top of its cell, where there are cells."""
    where, line = submission.locate(finding.line)
    if where in ("", "line"):
        return finding
    return replace(finding, where=where, line=line)
