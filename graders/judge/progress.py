"""What is known of one submission on its way through the gates."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from graders.judge.records import Exercise
from graders.judge.report import GATES, Finding, GateStatus, KernelResources, Speed, Verdict
from graders.judge.running.interpret import RunResult
from graders.judge.running.jobs import Prepared
from graders.judge.scoring import points


@dataclass
class Progress:
    """What is known of one submission so far; becomes the report."""

    name: str
    exercise: Exercise
    started: float
    gates: dict[str, GateStatus] = field(
        default_factory=lambda: dict.fromkeys(GATES, GateStatus.NOT_RUN)
    )
    findings: list[Finding] = field(default_factory=list)
    resources: tuple[KernelResources, ...] = ()
    failed_parts: set[str] = field(default_factory=set)
    public_failed_parts: set[str] = field(default_factory=set)
    cases_passed: int = 0
    cases_total: int = 0
    speed: Speed | None = None
    remarks: list[Finding] = field(default_factory=list)
    slow: bool = False  # nothing but time failed it in running
    slow_to_compile: bool = False

    def close(self, gate: str, findings: Sequence[Finding]) -> None:
        self.gates[gate] = GateStatus.FAILED if findings else GateStatus.PASSED
        self.findings += findings

    def count(self, cases: Sequence[Prepared], run: RunResult) -> None:
        """Take in what a run showed: which cases passed, and which parts fail."""
        self.cases_total, self.cases_passed = len(cases), len(run.passed)
        self.slow = run.slow
        if run.slow:  # a part is worth its share where some of its cases are right
            missed = {item.case.part for item in cases} - {item.case.part for item in run.passed}
            self.failed_parts |= missed
            self.public_failed_parts |= missed
            return
        ran = {id(item) for item, _ in run.outcomes}
        left = [item for item in cases if id(item) not in ran]
        self.failed_parts |= run.failed_parts() | {item.case.part for item in left}
        self.public_failed_parts |= run.failed_parts(public_only=True)
        self.public_failed_parts |= {item.case.part for item in left if not item.hidden}

    def points(self, verdict: Verdict, failed: Set[str]) -> float | None:
        """What that is worth where these parts failed."""
        slow = self.slow or self.slow_to_compile
        usable = self.gates["compile"] is not GateStatus.FAILED or self.slow_to_compile
        return points(self.exercise, verdict, self.gates, failed, slow and usable)
