"""From the judge's report to the two grade cells of an exercise: points and what to read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from graders.authoring.grade_cells import (
    HIDDEN_CASE,
    hidden_id,
    hidden_points,
    public_id,
    public_points,
)
from graders.judge import discovery
from graders.judge.plain_text import one_line
from graders.judge.records import Exercise, GraderError
from graders.judge.report import Finding, GateStatus, Report, Verdict, awaits_gpu

if TYPE_CHECKING:
    from graders.judge.runtime import Mode

UNSANDBOXED = "TILEWISE_ALLOW_UNSANDBOXED"  # set to 1: grade although the sandbox is not whole


class JudgeLike(Protocol):
    """What is needed of `graders.judge.pipeline.Judge`, official."""

    def judge(self, path: Path, exercise: Exercise) -> Report: ...

    def complete(self, path: Path, exercise: Exercise, report: Report) -> Report: ...

    def warm(self) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class CellMark:
    """What one grade cell shows. `points` is None when it could not be graded."""

    points: float | None
    max_points: float
    text: str

    def __post_init__(self) -> None:
        # A negative or non-numeric score would be full marks in nbgrader, one above an error.
        if self.points is not None and not 0 <= self.points <= self.max_points:
            raise GraderError(f"a mark of {self.points} is not between 0 and {self.max_points}")


@dataclass(frozen=True)
class Marks:
    """How one submission fared at one exercise, ready for nbgrader and for the class report."""

    exercise: str
    public: CellMark
    hidden: CellMark
    report: Mapping[str, Any]  # `Report.to_json`

    @property
    def reason(self) -> str:
        """Why it could not be graded; "" when it could."""
        if self.public.points is not None:
            return ""
        return "; ".join(Finding.from_json(found).told for found in self.report["findings"])

    def cells(self) -> dict[str, CellMark]:
        """The two marks by nbgrader's id of the cell."""
        return {public_id(self.exercise): self.public, hidden_id(self.exercise): self.hidden}

    @property
    def bonus(self) -> float | None:
        """The bonus points for speed; None where it was not measured."""
        measured = self.report.get("speed")
        return float(measured["bonus"]) if measured else None

    @property
    def awaits_gpu(self) -> bool:
        """Whether a GPU has still to judge it."""
        return awaits_gpu(self.report["gates"])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Marks:
        public, hidden = CellMark(**data["public"]), CellMark(**data["hidden"])
        return cls(data["exercise"], public, hidden, data["report"])


class Marker:
    """Marks submissions with one warm official judge; a context manager."""

    def __init__(self, judge: JudgeLike) -> None:
        self._judge = judge

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def warm(self) -> None:
        """Start the judge's warm processes, if they do not run."""
        self._judge.warm()

    def close(self) -> None:
        """End the judge's warm processes."""
        self._judge.close()

    def mark(self, path: Path, exercise_name: str, earlier: Marks | None = None) -> Marks:
        """The marks of the notebook or script at `path`. Faults of ours give ungraded marks.

        With `earlier` marks of the same code only what a GPU has still to say is added to them.
        """
        exercise = discovery.exercise(exercise_name)
        try:
            if earlier is None:
                return marks(exercise, self._judge.judge(path, exercise))
            known = Report.from_json(earlier.report)
            return completed(exercise, earlier, self._judge.complete(path, exercise, known))
        except Exception as error:  # whatever breaks in the judge is ours, and no zero
            kind = type(error).__name__  # not what it says: the words could be the submission's
            where = "" if not isinstance(error, GraderError) else f": {one_line(str(error))}"
            return ungraded_marks(exercise, f"the judge failed at this submission ({kind}{where})")


def completed(exercise: Exercise, earlier: Marks, report: Report) -> Marks:
    """The marks with the verdict of a GPU added; the earlier ones where none was."""
    if report.verdict is not Verdict.UNGRADED and awaits_gpu(report.gates):
        return earlier
    return marks(exercise, report)


def official_marker(mode: Mode = "interpret", secret: bytes | None = None) -> Marker:
    """A marker with a judge of its own that runs the hidden cases too."""
    from graders.judge.pipeline import Judge  # torch: only where something is judged

    judge = Judge(mode, True, unsandboxed_allowed(), secret=secret)
    return Marker(judge)


def unsandboxed_allowed() -> bool:
    """Did the instructor say that grading below sandbox tier A is acceptable?"""
    return os.environ.get(UNSANDBOXED) == "1"


def marks(exercise: Exercise, report: Report) -> Marks:
    """Split the report of an official run over the two cells."""
    if report.verdict is Verdict.UNGRADED or report.points is None:
        return ungraded_marks(exercise, _reason(report.findings), report)
    public = report.public_points if report.public_points is not None else report.points
    return Marks(
        exercise.name,
        _cell(exercise, report, "public", public_points(exercise), public),
        _cell(exercise, report, "hidden", hidden_points(exercise), report.points),
        report.to_json(),
    )


def ungraded_marks(exercise: Exercise, reason: str, report: Report | None = None) -> Marks:
    """Marks that say why there are none: the instructor decides, nobody loses points."""
    text = (
        f"{exercise.name}: not graded yet.\n{reason}\n"
        "This is not a zero: your instructor looks at it."
    )
    found = report if report is not None else _no_report(exercise, reason)
    return Marks(
        exercise.name,
        CellMark(None, public_points(exercise), text),
        CellMark(None, hidden_points(exercise), text),
        found.to_json(),
    )


def _reason(findings: Sequence[Finding]) -> str:
    return "\n".join(f"{finding.title}: {finding.message}" for finding in findings)


def _no_report(exercise: Exercise, reason: str) -> Report:
    """A report that says no more than why there is none."""
    return Report(
        submission="",
        exercise=exercise.name,
        verdict=Verdict.UNGRADED,
        points=None,
        max_points=exercise.max_points,
        gates={},
        findings=(Finding("judge", "could-not-grade", "This could not be graded", reason),),
        sandbox="none",
        seconds=0.0,
    )


def _cell(exercise: Exercise, report: Report, part: str, worth: int, reached: float) -> CellMark:
    """The mark of one cell: its worth times the share of all points that was reached."""
    points = round(worth * reached / exercise.max_points, 2)
    head = f"{exercise.name}, {part} cases: {points:g} of {worth} points"
    if _was_run(report) and report.sandbox != "A":
        head += f" (sandbox tier {report.sandbox})"
    shown = [finding for finding in report.findings if _belongs(finding, part)]
    lines = [head, *(_paragraph(finding, exercise) for finding in shown)]
    if not shown:
        lines.append(_nothing_to_show(report, part, complete=reached == exercise.max_points))
    if part == "public" and report.remarks:
        told = [_paragraph(remark, exercise) for remark in report.remarks]
        lines += ["A remark, which costs nothing:", *told]
    if part == "hidden" and report.speed is not None:
        lines.append(f"Speed: {report.speed.told}")
    return CellMark(points, worth, "\n".join(lines))


def _was_run(report: Report) -> bool:
    running = [report.gates[gate] for gate in ("interpret", "call") if gate in report.gates]
    return any(status is not GateStatus.NOT_RUN for status in running)


def _belongs(finding: Finding, part: str) -> bool:
    hidden = finding.case is not None and finding.case.startswith(HIDDEN_CASE)
    return hidden == (part == "hidden")


def _nothing_to_show(report: Report, part: str, complete: bool) -> str:
    if complete:
        return "All of them are right."
    if not _was_run(report):
        return "They were not run: see the findings of the public cases."
    return f"See the findings of the {'public' if part == 'hidden' else 'hidden'} cases."


def _paragraph(finding: Finding, exercise: Exercise) -> str:
    """A finding as text. Of a hidden case neither the name nor a value is told."""
    places = [finding.where, f"line {finding.line}" if finding.line is not None else ""]
    place = f" ({', '.join(part for part in places if part)})" if any(places) else ""
    where = f" in {_told_case(finding.case, exercise)}" if finding.case is not None else ""
    head = f"- {finding.title}{place}{where} [{finding.gate}: {finding.code}]"
    body = [finding.message, *_table(finding, exercise)]
    body.append(f"Next: {finding.next_step}" if finding.next_step else "")
    return "\n".join([head, *(f"  {line}" for line in body if line)])


def _table(finding: Finding, exercise: Exercise) -> list[str]:
    """The table of programs, of a public case only."""
    public = {case.name for case in exercise.cases}
    return finding.table.lines() if finding.table is not None and finding.case in public else []


def _told_case(name: str, exercise: Exercise) -> str:
    known = {case.name for case in exercise.cases}
    return name if name in known or name.startswith(HIDDEN_CASE) else HIDDEN_CASE
