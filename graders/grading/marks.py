"""Turns the judge's report into the points and texts of an exercise's two grade cells."""

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
from triton_util.report import Finding, GateStatus, Report, Verdict, awaits_gpu

if TYPE_CHECKING:
    from graders.judge.runtime import Mode

UNSANDBOXED = "TILEWISE_ALLOW_UNSANDBOXED"  # set to 1: grade although the sandbox is incomplete


class JudgeLike(Protocol):
    """The part of an official `graders.judge.pipeline.Judge` that is used here."""

    def judge(self, path: Path, exercise: Exercise) -> Report: ...

    def complete(self, path: Path, exercise: Exercise, report: Report) -> Report: ...

    def warm(self) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class CellMark:
    """What one grade cell shows. `points` is None if it could not be graded."""

    points: float | None
    max_points: float
    text: str

    def __post_init__(self) -> None:
        # nbgrader reads a negative or non-numeric score as full marks; above the maximum it fails.
        if self.points is not None and not 0 <= self.points <= self.max_points:
            raise GraderError(f"a mark of {self.points} is not between 0 and {self.max_points}")


@dataclass(frozen=True)
class Marks:
    """One submission's result at one exercise, for nbgrader and for the class report."""

    exercise: str
    public: CellMark
    hidden: CellMark
    report: Mapping[str, Any]  # `Report.to_json`

    @property
    def reason(self) -> str:
        """Return why it could not be graded, or ""."""
        if self.public.points is not None:
            return ""
        return "; ".join(Finding.from_json(found).told for found in self.report["findings"])

    def cells(self) -> dict[str, CellMark]:
        """Return the two marks, by nbgrader's id of the cell."""
        return {public_id(self.exercise): self.public, hidden_id(self.exercise): self.hidden}

    @property
    def bonus(self) -> float | None:
        """Return the bonus points for speed; None if it was not measured."""
        measured = self.report.get("speed")
        return float(measured["bonus"]) if measured else None

    @property
    def awaits_gpu(self) -> bool:
        """Whether a GPU still has to judge it."""
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
        """Start the judge's warm processes if they are not running."""
        self._judge.warm()

    def close(self) -> None:
        """End the judge's warm processes."""
        self._judge.close()

    def mark(self, path: Path, exercise_name: str, earlier: Marks | None = None) -> Marks:
        """Return the marks of the notebook or script at `path`; ungraded if the judge fails.

        With `earlier` marks of the same code, only the GPU's verdict is added to them.
        """
        exercise = discovery.exercise(exercise_name)
        try:
            if earlier is None:
                return marks(exercise, self._judge.judge(path, exercise))
            known = Report.from_json(earlier.report)
            return completed(exercise, earlier, self._judge.complete(path, exercise, known))
        except Exception as error:  # an error of the judge must not become a zero
            kind = type(error).__name__  # not its text, which the submission could have written
            where = "" if not isinstance(error, GraderError) else f": {one_line(str(error))}"
            return ungraded_marks(exercise, f"the judge failed at this submission ({kind}{where})")


def completed(exercise: Exercise, earlier: Marks, report: Report) -> Marks:
    """Return the marks with a GPU's verdict added; the earlier ones if there is none."""
    if report.verdict is not Verdict.UNGRADED and awaits_gpu(report.gates):
        return earlier
    return marks(exercise, report)


def official_marker(mode: Mode = "interpret", secret: bytes | None = None) -> Marker:
    """Return a marker with its own judge, which runs the hidden cases too."""
    from graders.judge.pipeline import Judge  # imports torch: only if needed

    judge = Judge(mode, True, unsandboxed_allowed(), secret=secret)
    return Marker(judge)


def unsandboxed_allowed() -> bool:
    """Whether the instructor allows grading below sandbox tier A."""
    return os.environ.get(UNSANDBOXED) == "1"


def marks(exercise: Exercise, report: Report) -> Marks:
    """Return the marks of the two cells from the report of an official run."""
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
    """Return marks without points, with the reason: the instructor decides, no points are lost."""
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
    """Return a report that only says why nothing was judged."""
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
    """Return the mark of one cell: its worth times the fraction of all points reached."""
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
    """Return a finding as text. It shows no name or value of a hidden case."""
    places = [finding.where, f"line {finding.line}" if finding.line is not None else ""]
    place = f" ({', '.join(part for part in places if part)})" if any(places) else ""
    where = f" in {_told_case(finding.case, exercise)}" if finding.case is not None else ""
    head = f"- {finding.title}{place}{where} [{finding.gate}: {finding.code}]"
    body = [finding.message, *_table(finding, exercise)]
    body.append(f"Next: {finding.next_step}" if finding.next_step else "")
    return "\n".join([head, *(f"  {line}" for line in body if line)])


def _table(finding: Finding, exercise: Exercise) -> list[str]:
    """Return the table of programs, for a public case only."""
    public = {case.name for case in exercise.cases}
    return finding.table.lines() if finding.table is not None and finding.case in public else []


def _told_case(name: str, exercise: Exercise) -> str:
    known = {case.name for case in exercise.cases}
    return name if name in known or name.startswith(HIDDEN_CASE) else HIDDEN_CASE
