"""The protocol of a gate: a function from the context of one submission to its result.

`graders.judge.pipeline.GATES` lists the gates in the order in which they run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property

from graders.judge.launch_trace.gate import Captured
from graders.judge.records import Exercise
from graders.judge.running.jobs import PlannedJobs
from graders.judge.running.unseen import Arms
from graders.judge.runtime import Runtime
from graders.judge.sandbox.pool import Outcome
from graders.judge.submission.loading import Submission
from triton_util.report import BytesMoved, Finding, GateStatus, KernelResources, Speed


@dataclass(frozen=True)
class GateResult:
    """The result of a submission at one gate. Findings cost points, remarks do not."""

    status: GateStatus
    findings: tuple[Finding, ...] = ()
    remarks: tuple[Finding, ...] = ()
    resources: tuple[KernelResources, ...] = ()  # what the compiler made of the kernels
    keeps: float | None = None  # overrides the gate's own share, if this failure leaves more
    visited: Arms = field(default_factory=dict)  # by the compiler, see `compiling.gate`

    @classmethod
    def of(
        cls,
        findings: Sequence[Finding],
        remarks: Sequence[Finding] = (),
        resources: tuple[KernelResources, ...] = (),
        keeps: float | None = None,
        visited: Arms | None = None,
    ) -> GateResult:
        """A failed result if there is a finding, otherwise a passed one."""
        status = GateStatus.FAILED if findings else GateStatus.PASSED
        return cls(status, tuple(findings), tuple(remarks), resources, keeps, visited or {})


NOT_RUN = GateResult(GateStatus.NOT_RUN)  # there was nothing to run it on, or to compare with


@dataclass
class Facts:
    """What later gates and the report need to know besides findings."""

    resources: tuple[KernelResources, ...] = ()
    cases_passed: int = 0
    cases_total: int = 0
    failed_parts: set[str] = field(default_factory=set)
    public_failed_parts: set[str] = field(default_factory=set)  # by public cases alone
    speed: Speed | None = None
    moved: BytesMoved | None = None
    counted: Outcome | None = None  # the outcome of the case whose bytes are counted
    gpu_seconds: float = 0.0  # that the submission used a GPU, without those for its speed
    compiled_on_gpu: int = 0  # kernels for whose compilation the GPU waited
    largest: int = 0  # elements of the largest public case that passed on the interpreter
    official_seconds: float = 0.0  # spent on hidden cases and speed
    ran: Arms | None = None  # in the public cases, see `running.unseen`
    visited: Arms = field(default_factory=dict)  # by the compiler for the public cases


@dataclass
class Context:
    """One submission while it passes the gates, and what the gates share."""

    submission: Submission
    exercise: Exercise
    runtime: Runtime
    facts: Facts = field(default_factory=Facts)
    ahead: dict[str, Future[None]] = field(default_factory=dict)  # by gate, see `Gate.ahead`

    @cached_property
    def captured(self) -> Captured:
        """What the launcher asks for in every public case; the gate *read* asks first."""
        return self.runtime.capture(self.submission, self.exercise)

    @cached_property
    def hidden(self) -> Captured:
        """What the launcher asks for in every hidden case, when it is called in another process."""
        return self.runtime.capture(self.submission, self.exercise, hidden=True)

    @cached_property
    def planned(self) -> PlannedJobs:
        """The workers' jobs for the public cases."""
        return PlannedJobs(self.submission.source, self.captured)

    @cached_property
    def hidden_jobs(self) -> PlannedJobs:
        """The workers' jobs for the hidden cases."""
        return PlannedJobs(self.submission.source, self.hidden)


@dataclass(frozen=True)
class Gate:
    """A gate and its place in the pipeline.

    It judges launchers of `kernels`, plain `functions`, or both; a report names the gates that
    judge its kind of exercise. It runs if all gates in `after` have passed. A `concurrent` gate
    runs in its own thread, next to the gate that follows, and leaves the context unchanged. Its
    `ahead` work needs only the result of the gate *read*, and runs in a thread, too. `official` is
    its extra work for an official grade: hidden cases, and speed. It runs once the public cases are
    judged, as long as points are left. `keeps` is the share of the points that a submission keeps
    when it fails here; the cost of its failed cases is counted separately (see `scoring`).
    """

    name: str
    run: Callable[[Context], GateResult]
    after: tuple[str, ...] = ()
    concurrent: bool = False
    keeps: float = 0.0
    kernels: bool = True
    functions: bool = False
    ahead: Callable[[Context], None] | None = None
    official: Callable[[Context], GateResult] | None = None

    def judges(self, exercise: Exercise) -> bool:
        """Whether this gate judges submissions to this exercise."""
        return self.kernels if exercise.function is None else self.functions
