"""The judge's report as the learner sees it: validated on arrival, with the learner's own lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from triton_util.report import BytesMoved, Finding, KernelResources, Report, Verdict

State = Literal["passed", "failed", "unjudged", "outdated", "untouched"]


@dataclass(frozen=True)
class Quoted:
    """A line of the learner's code, by its number in its cell; `meant` marks the line at fault."""

    number: int
    text: str
    meant: bool = False


@dataclass(frozen=True)
class ShownFinding(Finding):
    """A finding whose `where` and `code_line` are the learner's own lines.

    `line` is a line of the text that was sent. `quoted` is the line with its neighbours, `cell` the
    fingerprint of the cell they are from.
    """

    code_line: str = ""
    quoted: tuple[Quoted, ...] = ()
    cell: str = ""


# Codes of findings of `check` itself: its argument is not an exercise, or has no code yet.
NO_EXERCISE = frozenset({"unknown-exercise", "kernel-given", "no-function"})
NO_CODE = frozenset({"not-defined"})


@dataclass(frozen=True)
class Checked:
    """The result of one check.

    `state` is unjudged when the judge failed, not the learner; outdated when Python holds other
    code than the notebook shows; untouched when the stub is unchanged. `judged` names the cells
    whose text was judged. The other fields are those of a `Report`.
    """

    exercise: str
    state: State
    gates: Mapping[str, str]
    findings: tuple[ShownFinding, ...]
    cases_passed: int = 0
    cases_total: int = 0
    points: float | None = None
    max_points: int = 0
    sandbox: str = ""
    seconds: float = 0.0
    resources: tuple[KernelResources, ...] = ()
    remarks: tuple[ShownFinding, ...] = ()  # on correct code
    judged: str = ""
    moved: BytesMoved | None = None
    source: str = ""  # the text that was judged
    cells: tuple[str, ...] = ()  # the fingerprints of the cells that were judged

    @property
    def counts(self) -> bool:
        """Whether code that the learner wrote was judged."""
        return self.state in ("passed", "failed") and not self._codes & (NO_EXERCISE | NO_CODE)

    @property
    def names_exercise(self) -> bool:
        """Whether the argument of the check was the name of an exercise."""
        return not self._codes & NO_EXERCISE

    @property
    def _codes(self) -> frozenset[str]:
        return frozenset(finding.code for finding in self.findings)


class MalformedReport(Exception):  # noqa: N818 - names what was received
    """The judge's answer lacks something that every report has."""


_STATES: dict[Verdict, State] = {
    Verdict.PASSED: "passed",
    Verdict.FAILED: "failed",
    Verdict.UNGRADED: "unjudged",
}


def read_report(answer: Any) -> Checked:
    """The report in a judge's answer. Raises MalformedReport for anything else."""
    try:
        told = Report.from_json(answer)
    except ValueError as error:
        raise MalformedReport(str(error)) from error
    same = {name: value for name, value in vars(told).items() if name in Checked.__annotations__}
    shown = {"findings": _shown(told.findings), "remarks": _shown(told.remarks)}
    return Checked(**{**same, **shown, "state": _STATES[told.verdict]})


def _shown(findings: tuple[Finding, ...]) -> tuple[ShownFinding, ...]:
    return tuple(ShownFinding(**vars(finding)) for finding in findings)


def learners_mistake(exercise: str, code: str, title: str, message: str, step: str) -> Checked:
    """A report on a mistake that was found without the judge."""
    finding = ShownFinding("read", code, title, message, next_step=step)
    return Checked(exercise, "failed", {"read": "failed"}, (finding,))


def could_not_check(exercise: str, message: str, mend: str, detail: str = "") -> Checked:
    """A report that says that nothing was judged, and how to fix that."""
    finding = ShownFinding("judge", "could-not-check", "", message, next_step=mend, original=detail)
    return Checked(exercise, "unjudged", {}, (finding,))
