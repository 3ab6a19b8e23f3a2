"""What a class has understood: grades, failing gates, frequent misconceptions, open cases."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from graders.grading.finished import Finished
from graders.grading.gradebooks import is_open, opened, submissions
from graders.grading.plugins.export import harmless
from graders.grading.templates import rendered

if TYPE_CHECKING:
    from graders.grading.sharing import Sharing

TOO_EASY, TOO_HARD = 0.95, 0.4  # share of the class that solved it completely
ENOUGH = 5  # graded submissions, before anything is called too easy or too hard


@dataclass(frozen=True)
class Student:
    """One line of the grade table. `score` is None while something is not graded."""

    name: str
    score: float | None
    max_score: float
    open: tuple[str, ...]  # the grade cells that wait for a person
    reason: str  # why the judge could not grade, "" where it could
    reports: Mapping[str, Mapping[str, Any]]  # the judge's reports by exercise
    tampered: tuple[str, ...]


@dataclass(frozen=True)
class SeenMisconception:
    """A finding that several students share."""

    exercise: str
    code: str
    title: str
    students: int
    example: str


@dataclass(frozen=True)
class ExerciseLine:
    """How the class fared at one exercise."""

    name: str
    graded: int
    solved: int
    failed_gates: Mapping[str, int]
    timed: int = 0  # submissions whose speed was measured and believed
    speed: float = 0.0  # their median share of the model solution's speed

    @property
    def share(self) -> float:
        return self.solved / self.graded if self.graded else 0.0

    @property
    def note(self) -> str:
        """Too easy, too hard, or nothing to say."""
        if self.graded < ENOUGH:
            return ""
        if self.share >= TOO_EASY:
            return "perhaps too easy"
        return "perhaps too hard" if self.share <= TOO_HARD else ""


@dataclass(frozen=True)
class ClassReport:
    """Everything on the page."""

    assignment: str
    students: tuple[Student, ...]
    exercises: tuple[ExerciseLine, ...]
    misconceptions: tuple[SeenMisconception, ...]
    sharing: Sharing | None = None  # where it was asked for

    @property
    def gates(self) -> list[str]:
        """The gates that the reports name, in their order."""
        reports = (report for student in self.students for report in student.reports.values())
        return list(dict.fromkeys(gate for report in reports for gate in report["gates"]))

    @property
    def ungraded(self) -> list[Student]:
        return [student for student in self.students if student.reason]

    @property
    def tampered(self) -> list[Student]:
        return [student for student in self.students if student.tampered]


def class_report(course: Path, assignment: str, database: str) -> ClassReport:
    """Read the gradebook and the autograded notebooks of one assignment.

    Who could not be graded is among the students although the gradebook may not know them.
    """
    known = tuple(_students(course, assignment, database))
    students = tuple(sorted((*known, *_unread(course, assignment, known)), key=lambda s: s.name))
    names = sorted({name for student in students for name in student.reports})
    return ClassReport(
        assignment,
        students,
        tuple(_exercise_line(name, students) for name in names),
        tuple(_misconceptions(students)),
    )


def _students(course: Path, assignment: str, database: str) -> Iterable[Student]:
    with opened(database, assignment) as gradebook:
        for submission in sorted(submissions(gradebook, assignment), key=lambda s: s.student.id):
            grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
            unscored = [grade for grade in grades if is_open(grade)]
            yield _student(
                course,
                assignment,
                submission.student.id,
                None if unscored else float(submission.score),
                float(submission.max_score),
                tuple(sorted(grade.name for grade in unscored)),
            )


def _unread(course: Path, assignment: str, known: Sequence[Student]) -> Iterator[Student]:
    """Submissions that were never written to the gradebook, with the reason."""
    names = {student.name for student in known}
    for name, reason in Finished(course, assignment).ungraded().items():
        if name not in names:
            yield Student(name, None, 0.0, (), reason, {}, ())


def _student(
    course: Path,
    assignment: str,
    name: str,
    score: float | None,
    max_score: float,
    open_cells: tuple[str, ...],
) -> Student:
    path = course / "autograded" / name / assignment / f"{assignment}.ipynb"
    tilewise = _json(path).get("metadata", {}).get("tilewise", {})
    state = _json(course / ".tilewise" / "graded" / assignment / f"{name}.json")
    reports = tilewise.get("reports", {})
    reasons = [
        finding["message"]
        for report in reports.values()
        for finding in report["findings"]
        if report["verdict"] == "ungraded"
    ]
    reasons += tilewise.get("open", {}).values()  # of the instructor's own tests
    reason = state.get("reason") or "; ".join(dict.fromkeys(reasons))
    tampered = tuple(tilewise.get("tampered", ()))
    return Student(name, score, max_score, open_cells, reason, reports, tampered)


def _json(path: Path) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data


def _exercise_line(name: str, students: Iterable[Student]) -> ExerciseLine:
    reports = [student.reports[name] for student in students if name in student.reports]
    graded = [report for report in reports if report["points"] is not None]
    failed = Counter(
        gate for report in graded for gate, status in report["gates"].items() if status == "failed"
    )
    solved = sum(report["points"] == report["max_points"] for report in graded)
    shares = [s["fraction"] for report in graded if (s := report.get("speed")) and not s["problem"]]
    return ExerciseLine(
        name,
        len(graded),
        solved,
        failed,
        len(shares),
        median(shares) if shares else 0.0,
    )


def _misconceptions(students: Iterable[Student]) -> list[SeenMisconception]:
    """Findings by how many students have them, each with one line of somebody's code."""
    seen: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for student in students:
        for exercise, report in student.reports.items():
            if report["points"] is None:
                continue
            for code in {finding["code"] for finding in report["findings"]}:
                first = next(f for f in report["findings"] if f["code"] == code)
                seen.setdefault((exercise, code), []).append(first)
    lines = [
        SeenMisconception(
            exercise,
            code,
            findings[0]["title"],
            len(findings),
            next((f["example"] for f in findings if f.get("example")), ""),
        )
        for (exercise, code), findings in seen.items()
    ]
    return sorted(lines, key=lambda line: (-line.students, line.exercise, line.code))


def to_html(report: ClassReport) -> str:
    """The page: static, without scripts, loading nothing."""
    return rendered("report.html.j2", report=report)


def write_csv(report: ClassReport, path: Path) -> None:
    """One row per student: score, points and verdict by exercise, findings."""
    exercises = [line.name for line in report.exercises]
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        kinds = ("points", "findings", "speed", "bonus")
        columns = [f"{name} {what}" for name in exercises for what in kinds]
        writer.writerow(["student", "score", "max_score", "reason", *columns])
        for student in report.students:
            score = "" if student.score is None else f"{student.score:g}"
            name, reason = harmless(student.name), harmless(student.reason)
            row = [name, score, f"{student.max_score:g}", reason]
            for exercise in exercises:
                found = student.reports.get(exercise)
                points = found["points"] if found else None
                row.append("" if points is None else f"{points:g}")
                row.append(" ".join(f["code"] for f in found["findings"]) if found else "")
                row += _speed_columns(found)
            writer.writerow(row)


def _speed_columns(report: Mapping[str, Any] | None) -> list[str]:
    """Share of the model solution's speed and bonus; empty where speed was not measured."""
    speed = report.get("speed") if report else None
    if not speed:
        return ["", ""]
    return ["" if speed["problem"] else f"{speed['fraction']:g}", f"{speed['bonus']:g}"]
