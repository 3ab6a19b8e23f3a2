"""Pass a submission through the gates, from source text to a report."""

from __future__ import annotations

import time
from collections.abc import Mapping, Set
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import torch

from graders.judge.cases.prepared import Prepared
from graders.judge.gates import call, gpu, interpret, read, traffic
from graders.judge.gates import compile as compiling
from graders.judge.gates.protocol import Context, Facts, Gate, GateResult
from graders.judge.plain_text import presentable
from graders.judge.records import Exercise, GraderError
from graders.judge.running.report_checks import NotInterpretedError
from graders.judge.running.traffic import Moved, compared, measure, traffic_case
from graders.judge.runtime import Mode, Runtime
from graders.judge.sandbox.deadline import Deadline, TooCostlyError, limited
from graders.judge.scoring import WASTEFUL_SHARE, points
from graders.judge.submission import reader
from graders.judge.submission.loading import Submission, SubmissionError, from_text, load
from graders.judge.submission.refusals import UNREADABLE
from triton_util.report import (
    Finding,
    GateStatus,
    Report,
    Verdict,
    awaits_gpu,
    ungraded_finding,
)

GATES = (
    Gate("read", read.run, functions=True),
    Gate("compile", compiling.run, after=("read",), concurrent=True),
    Gate("interpret", interpret.run, after=("read",), keeps=1.0, official=interpret.official),
    Gate("traffic", traffic.run, after=("interpret",), keeps=WASTEFUL_SHARE),
    Gate("gpu", gpu.run, ("interpret",), keeps=1.0, ahead=gpu.prepare, official=gpu.official),
    Gate("call", call.run, ("read",), False, 1.0, False, True, official=call.official),
)
GATE_NAMES = tuple(gate.name for gate in GATES)
STOP_TICK_SECONDS = 0.05  # how often work that runs ahead is asked to stop


def not_run(exercise: Exercise) -> dict[str, GateStatus]:
    """The gates that judge submissions to this exercise, all with the status NOT_RUN."""
    return {gate.name: GateStatus.NOT_RUN for gate in GATES if gate.judges(exercise)}


def kept_share(
    statuses: Mapping[str, GateStatus], kept: Mapping[str, float] | None = None
) -> float:
    """The share of its points that a submission keeps, given the gates at which it failed.

    `kept` overrides the gates' own shares, by the name of the gate.
    """
    failed = (gate for gate in GATES if statuses.get(gate.name) is GateStatus.FAILED)
    return min(((kept or {}).get(gate.name, gate.keeps) for gate in failed), default=1.0)


@dataclass
class _Progress:
    """What is known about one submission so far. It becomes the report."""

    name: str
    exercise: Exercise
    started: float = field(default_factory=time.perf_counter)
    gates: dict[str, GateStatus] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    remarks: list[Finding] = field(default_factory=list)
    kept: dict[str, float] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)

    def __post_init__(self) -> None:
        self.gates = self.gates or not_run(self.exercise)

    def add(self, gate: str, result: GateResult) -> None:
        if self.gates[gate] is not GateStatus.FAILED:
            self.gates[gate] = result.status
        self.findings += result.findings
        self.remarks += result.remarks
        if result.keeps is not None:
            self.kept[gate] = result.keeps
        self.facts.resources = result.resources or self.facts.resources
        self.facts.visited = result.visited or self.facts.visited

    def collect(self, running: dict[str, Future[GateResult]]) -> None:
        """Wait for the gates that run in threads, and add their results."""
        for name, result in running.items():
            self.add(name, result.result())
        running.clear()

    @property
    def verdict(self) -> Verdict:
        failed = GateStatus.FAILED in self.gates.values()
        return Verdict.FAILED if failed else Verdict.PASSED

    def points(self, verdict: Verdict, failed_parts: Set[str]) -> float | None:
        """The points that are left if these parts failed."""
        share = kept_share(self.gates, self.kept)
        return points(self.exercise, verdict, share, failed_parts)


class Judge:
    """Judges submissions, one after another; a context manager that owns warm processes.

    `official` adds the hidden cases. It requires a sandbox of tier A unless `allow_unsandboxed` is
    set, which every report then states. `mode` says which of the running gates count. Without
    `timed` no speed is measured; no verdict depends on speed. The numbers of the cases are drawn
    from `secret`, by default a new one for each judge. The warm processes start when they are first
    needed and serve every later submission.
    """

    def __init__(
        self,
        mode: Mode = "interpret",
        official: bool = False,
        allow_unsandboxed: bool = False,
        timed: bool = True,
        secret: bytes | None = None,
    ) -> None:
        self.runtime = Runtime(mode, official, allow_unsandboxed, timed, secret)
        self._open = ExitStack()
        self._open.callback(self.runtime.close)
        threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="gate")
        self._threads = self._open.enter_context(threads)  # ends before what it uses is closed
        torch.set_num_threads(1)  # the tensors are small: threads would only wait for each other

    def __enter__(self) -> Self:
        reader.shared().start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the warm processes."""
        self._open.close()

    def warm(self) -> None:
        """Start the processes that the first submission would otherwise wait for."""
        starting = self._threads.submit(self.runtime.warm, second=True)
        reader.shared().start()
        starting.result()

    @property
    def tier(self) -> str:
        """The sandbox tier at which submissions run: A enforced, B partial, C none."""
        return self.runtime.workers("cpu").tier

    def progress(self) -> tuple[int, int]:
        """How many of the cases that run now are done, and how many there are; (0, 0) if none run.

        Call it from another thread than the one that judges.
        """
        return self.runtime.progress()

    def judge(self, path: Path, exercise: Exercise) -> Report:
        """The report for one file and exercise. Our own faults give an ungraded report."""
        progress = _Progress(str(path), exercise)
        try:
            submission = load(path, exercise)
        except SubmissionError as error:
            return self._refused(progress, error)
        return self._judge(progress, submission)

    def judge_text(self, text: str, exercise: Exercise, name: str = "<notebook>") -> Report:
        """The report for source text that is not in a file."""
        progress = _Progress(name, exercise)
        try:
            submission = from_text(text, exercise, name)
        except SubmissionError as error:
            return self._refused(progress, error)
        return self._judge(progress, submission)

    def complete(self, path: Path, exercise: Exercise, report: Report) -> Report:
        """Add the verdict of the GPU to an earlier report on the same submission.

        The results of the other gates stay as they are, and none of them runs again. The report is
        returned unchanged if its gates keep the submission off a GPU, if a GPU has already judged
        it, or if this machine has no GPU.
        """
        if not awaits_gpu(report.gates):
            return report
        if self.runtime.mode != "gpu" and not torch.cuda.is_available():
            return report
        facts = Facts(report.resources, report.cases_passed, report.cases_total)
        progress = _Progress(str(path), exercise, gates=dict(report.gates), facts=facts)
        progress.remarks += [remark for remark in report.remarks if remark.gate != "gpu"]
        try:
            submission = load(path, exercise)
            context = Context(submission, exercise, self.runtime, facts)
            progress.add("gpu", gpu.run(context))
            self._grade(next(gate for gate in GATES if gate.name == "gpu"), progress, context)
        except (GraderError, SubmissionError) as error:
            fault = error if isinstance(error, GraderError) else GraderError(error.finding.message)
            progress.findings = [ungraded_finding(fault)]
            return self._report(progress, Verdict.UNGRADED)
        placed = [_placed(finding, submission) for finding in progress.findings]
        progress.findings = [*report.findings, *placed]
        return self._report(progress, progress.verdict)

    def _refused(self, progress: _Progress, error: SubmissionError) -> Report:
        progress.findings.append(error.finding)
        if error.finding.code in UNREADABLE:
            return self._report(progress, Verdict.UNGRADED)
        progress.gates[error.finding.gate] = GateStatus.FAILED
        return self._report(progress, Verdict.FAILED)

    def _judge(self, progress: _Progress, submission: Submission) -> Report:
        self.runtime.deadline = Deadline()
        try:
            with limited():
                self._pass_gates(progress, submission)
            progress.findings = [_placed(finding, submission) for finding in progress.findings]
            progress.remarks = [_placed(remark, submission) for remark in progress.remarks]
        except TooCostlyError as error:
            progress.findings = [_too_costly(error)]
            return self._report(progress, Verdict.UNGRADED)
        except GraderError as error:
            progress.findings = [ungraded_finding(error)]
            return self._report(progress, Verdict.UNGRADED)
        return self._report(progress, progress.verdict)

    def _pass_gates(self, progress: _Progress, submission: Submission) -> None:
        context = Context(submission, progress.exercise, self.runtime, progress.facts)
        try:
            self._pass_each(progress, context)
        finally:
            self._end_what_is_ahead(context)
        progress.findings = once(progress.findings)

    def _end_what_is_ahead(self, context: Context) -> None:
        """End the work that runs ahead, so that it does not overlap with the next submission."""
        for future in context.ahead.values():
            while not future.done():
                self.runtime.stop_building()
                wait([future], timeout=STOP_TICK_SECONDS)

    def _pass_each(self, progress: _Progress, context: Context) -> None:
        running: dict[str, Future[GateResult]] = {}
        for gate in GATES:
            if not gate.judges(progress.exercise):
                continue
            if not running.keys().isdisjoint(gate.after):
                progress.collect(running)
            if any(progress.gates[name] is not GateStatus.PASSED for name in gate.after):
                continue
            if gate.concurrent:
                running[gate.name] = self._threads.submit(gate.run, context)
                continue
            try:
                result = gate.run(context)
            except NotInterpretedError:
                progress.collect(running)
                if GateStatus.FAILED in progress.gates.values():
                    return  # the compiler rejects it too, so it is not a gap of the interpreter
                raise
            progress.collect(running)
            progress.add(gate.name, result)
            self._compare(gate, progress, context)
            self._grade(gate, progress, context)
            if gate.name == "read" and result.status is GateStatus.PASSED:
                self._go_ahead(context)
        progress.collect(running)

    def _compare(self, gate: Gate, progress: _Progress, context: Context) -> None:
        """Compare what ran with what was compiled, once both are known and points are left."""
        left, compiled = kept_share(progress.gates, progress.kept), progress.gates.get("compile")
        if gate.name == "interpret" and left and compiled is not None:
            again = compiled is GateStatus.PASSED
            progress.add("compile", compiling.compared(context, again))

    def _grade(self, gate: Gate, progress: _Progress, context: Context) -> None:
        """Run the gate's extra work for an official grade, if there are points left to lose."""
        left = progress.points(progress.verdict, context.facts.failed_parts)
        not_run = progress.gates[gate.name] is GateStatus.NOT_RUN
        if gate.official is None or not self.runtime.official or not_run or not left:
            return
        started = time.perf_counter()
        progress.add(gate.name, gate.official(context))
        context.facts.official_seconds += time.perf_counter() - started

    def _go_ahead(self, context: Context) -> None:
        """Start what gates can prepare before the gates in front of them have passed."""
        for gate in GATES:
            if gate.ahead is not None and gate.judges(context.exercise):
                context.ahead[gate.name] = self._threads.submit(gate.ahead, context)

    def moved(self, submission: Submission, exercise: Exercise) -> tuple[Moved, int] | None:
        """The bytes that a correct submission and the model solution move on the same case."""
        planned = Context(submission, exercise, self.runtime).planned
        cases, workers = self.runtime.cases(exercise), self.runtime.workers("cpu")
        return compared(planned, exercise, cases, workers)

    def traffic_of(
        self, submission: Submission, exercise: Exercise
    ) -> tuple[Prepared, Moved | None] | None:
        """The case on which bytes are counted, and what a submission moves there."""
        item = traffic_case(self.runtime.cases(exercise))
        if item is None:
            return None
        planned = Context(submission, exercise, self.runtime).planned
        return item, measure(planned, item, self.runtime.workers("cpu"))

    def _report(self, progress: _Progress, verdict: Verdict) -> Report:
        exercise, facts = progress.exercise, progress.facts
        return Report(
            submission=progress.name,
            exercise=exercise.name,
            verdict=verdict,
            points=progress.points(verdict, facts.failed_parts),
            public_points=progress.points(verdict, facts.public_failed_parts),
            max_points=exercise.max_points,
            gates=dict(progress.gates),
            findings=tuple(map(presentable, progress.findings)),
            sandbox=self.runtime.tier_for_report(),
            seconds=time.perf_counter() - progress.started - facts.official_seconds,
            cases_passed=facts.cases_passed,
            cases_total=facts.cases_total,
            resources=facts.resources,
            speed=facts.speed,
            moved=facts.moved,
            gpu_seconds=round(facts.gpu_seconds, 3),
            compiled_on_gpu=facts.compiled_on_gpu,
            remarks=tuple(map(presentable, progress.remarks)),
        )


def once(findings: list[Finding]) -> list[Finding]:
    """The findings without repeated errors of one line.

    The compiler repeats an error for each dtype, and the interpreter stops there too.
    """
    refused = [found for found in findings if found.code == "compile-error"]
    others = [f for f in findings if f.code not in ("compile-error", "kernel-error")]
    return [*refused[:1], *others] if refused else findings


def _too_costly(error: TooCostlyError) -> Finding:
    """The finding for a submission that is too large, or for a fault of ours that it reveals.

    In both cases a person has to look.
    """
    return Finding(
        gate="judge",
        code="too-costly",
        title="The submission cannot be judged in reasonable time",
        message=f"{error}, which no kernel of this course does.",
        next_step="Hand in only the kernel and its launcher, without large texts and tables.",
    )


def _placed(finding: Finding, submission: Submission) -> Finding:
    """The finding with its line counted from the top of its cell, if the source has cells."""
    where, line = submission.locate(finding.line)
    if where in ("", "line"):
        return finding
    return replace(finding, where=where, line=line)
