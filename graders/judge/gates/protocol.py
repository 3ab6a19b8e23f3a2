"""What a gate is: a function from the context of one submission to how it fared there.

`graders.judge.pipeline.GATES` lists the gates, in the order in which a submission passes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property

from graders.judge.launch_trace.gate import Captured
from graders.judge.records import Exercise
from graders.judge.report import BytesMoved, Finding, GateStatus, KernelResources, Speed
from graders.judge.running.jobs import PlannedJobs
from graders.judge.running.unseen import Arms
from graders.judge.runtime import Runtime
from graders.judge.sandbox.pool import Outcome
from graders.judge.submission.loading import Submission


@dataclass(frozen=True)
class GateResult:
    """How a submission fared at one gate. Findings cost points, remarks do not."""

    status: GateStatus
    findings: tuple[Finding, ...] = ()
    remarks: tuple[Finding, ...] = ()
    resources: tuple[KernelResources, ...] = ()  # what the compiler made of the kernels
    keeps: float | None = None  # in place of the gate's own share, where this failure leaves more
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
        """Failed where there is a finding, else passed."""
        status = GateStatus.FAILED if findings else GateStatus.PASSED
        return cls(status, tuple(findings), tuple(remarks), resources, keeps, visited or {})


NOT_RUN = GateResult(GateStatus.NOT_RUN)  # there was nothing to run it on, or to compare with


@dataclass
class Facts:
    """What is found out for the report, and for later gates, besides findings."""

    resources: tuple[KernelResources, ...] = ()
    cases_passed: int = 0
    cases_total: int = 0
    failed_parts: set[str] = field(default_factory=set)
    public_failed_parts: set[str] = field(default_factory=set)  # by public cases alone
    speed: Speed | None = None
    moved: BytesMoved | None = None
    counted: Outcome | None = None  # of the case whose bytes are counted
    gpu_seconds: float = 0.0  # for which the submission had a GPU, but for its speed
    compiled_on_gpu: int = 0  # kernels for which the GPU waited meanwhile
    largest: int = 0  # elements of the largest public case that passed on the interpreter
    official_seconds: float = 0.0  # that went by with hidden cases and speed
    ran: Arms | None = None  # in the public cases, see `running.unseen`
    visited: Arms = field(default_factory=dict)  # by the compiler for the public cases


@dataclass
class Context:
    """One submission on its way through the gates, and what they share."""

    submission: Submission
    exercise: Exercise
    runtime: Runtime
    facts: Facts = field(default_factory=Facts)
    ahead: dict[str, Future[None]] = field(default_factory=dict)  # by gate, see `Gate.ahead`

    @cached_property
    def captured(self) -> Captured:
        """What the launcher asks for in every public case; the gate *read* is the first to ask."""
        return self.runtime.capture(self.submission, self.exercise)

    @cached_property
    def hidden(self) -> Captured:
        """What it asks for in every hidden case, when it is called in another process."""
        return self.runtime.capture(self.submission, self.exercise, hidden=True)

    @cached_property
    def planned(self) -> PlannedJobs:
        """The jobs for the workers that follow from it."""
        return PlannedJobs(self.submission.source, self.captured)

    @cached_property
    def hidden_jobs(self) -> PlannedJobs:
        """The same for the hidden cases."""
        return PlannedJobs(self.submission.source, self.hidden)


@dataclass(frozen=True)
class Gate:
    """A gate and its place in the pipeline.

    It judges launchers of `kernels`, plain `functions`, or both; a report names those that judge
    exercises of its kind. It runs where all gates that `after` names have passed. A `concurrent`
    one runs in a thread of its own, beside the gate that follows, and leaves the context as it is.
    What it does `ahead` needs only what the gate *read* has found, and runs in a thread, too.
    `official` is what it does besides for an official grade, once the public cases are judged and
    as long as points are left: hidden cases, and speed. `keeps` is the share of the points that a
    submission keeps when it fails here; what its failed cases cost is counted besides (see
    `scoring`).
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
        """Whether submissions to this exercise pass here."""
        return self.kernels if exercise.function is None else self.functions
