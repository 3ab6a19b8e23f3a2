"""What a class has understood: grades, failing gates, frequent misconceptions, open cases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from graders.authoring.grade_cells import hidden_id, public_id
from graders.grading.course_config import load_config
from graders.grading.ledger.accounts import Account, State, told, total
from graders.grading.ledger.changes import Change, read_changes
from graders.grading.ledger.settled import ledger_of
from graders.grading.report.participation import Participation, asked_in, participation
from graders.grading.report.questions import GradedQuestion, questions_of
from graders.grading.templates import rendered
from graders.judge.plain_text import one_line

if TYPE_CHECKING:
    from graders.grading.sharing import Sharing

TOO_EASY, TOO_HARD = 0.95, 0.4  # fraction of the class that solved it completely
ENOUGH = 5  # an exercise with fewer graded submissions is not called too easy or hard
LONGEST_REASON = 1_000  # characters


@dataclass(frozen=True)
class Student:
    """One line of the grade table: the student's account, and the judge's reports."""

    account: Account
    reason: str  # why the judge could not grade, "" where it could
    reports: Mapping[str, Mapping[str, Any]]  # the judge's reports by exercise
    tampered: tuple[str, ...]
    participation: Participation

    @property
    def name(self) -> str:
        """The student's id in the class."""
        return self.account.student

    @property
    def called(self) -> str:
        """The student's name, or the id if the roster and the gradebook have no name."""
        return self.account.name or self.account.student

    @property
    def score(self) -> float | None:
        return self.account.score

    @property
    def max_score(self) -> float:
        return self.account.max_score

    @property
    def open(self) -> tuple[str, ...]:
        """The grade cells that wait for a person."""
        return tuple(sorted(mark.cell for mark in self.account.open))

    def points(self, exercise: str) -> float | None:
        """Return the gradebook's points for an exercise; None while a part is open."""
        cells = (public_id(exercise), hidden_id(exercise))
        marks = [mark for mark in self.account.marks if mark.cell in cells]
        points = [mark.points for mark in marks if mark.points is not None]
        return total(points) if marks and len(points) == len(marks) else None


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
    speed: float = 0.0  # their median speed, as a fraction of the model solution's

    @property
    def share(self) -> float:
        return self.solved / self.graded if self.graded else 0.0

    @property
    def note(self) -> str:
        """Return "too easy", "too hard" or "", for the page."""
        if self.graded < ENOUGH:
            return ""
        if self.share >= TOO_EASY:
            return "perhaps too easy"
        return "perhaps too hard" if self.share <= TOO_HARD else ""


@dataclass(frozen=True)
class ClassReport:
    """Everything on the page. `students` are those who handed in."""

    assignment: str
    students: tuple[Student, ...]
    absent: tuple[Account, ...]
    exercises: tuple[ExerciseLine, ...]
    questions: tuple[GradedQuestion, ...]
    misconceptions: tuple[SeenMisconception, ...]
    changes: tuple[Change, ...] = ()
    sharing: Sharing | None = None  # if it was requested

    @property
    def gates(self) -> list[str]:
        """Return the gates that the reports name, in their order."""
        reports = (report for student in self.students for report in student.reports.values())
        return list(dict.fromkeys(gate for report in reports for gate in report["gates"]))

    @property
    def ungraded(self) -> list[Student]:
        return [student for student in self.students if student.reason]

    @property
    def waiting(self) -> list[Student]:
        """Return the students with work that a person has to grade."""
        return [s for s in self.students if s.account.state is State.OPEN and not s.reason]

    @property
    def tampered(self) -> list[Student]:
        return [student for student in self.students if student.tampered]

    @property
    def off_roster(self) -> list[Student]:
        return [student for student in self.students if not student.account.on_roster]


def class_report(course: Path, assignment: str, database: str | None = None) -> ClassReport:
    """Return the report of one assignment, from its accounts and autograded notebooks."""
    with ledger_of(course, load_config(course, database), assignment) as ledger:
        accounts = ledger.accounts(assignment)
    lesson = _json(course / "source" / assignment / f"{assignment}.ipynb")
    asked = asked_in(lesson.get("cells", ()))
    students = tuple(_student(course, a, asked) for a in accounts if a.handed_in)
    names = sorted({name for student in students for name in student.reports})
    return ClassReport(
        assignment,
        students,
        tuple(account for account in accounts if not account.handed_in),
        tuple(_exercise_line(name, students) for name in names),
        tuple(questions_of([(s.account, s.reports) for s in students])),
        tuple(_misconceptions(students)),
        tuple(read_changes(course, assignment)),
    )


def _student(course: Path, account: Account, asked: frozenset[str]) -> Student:
    place = course / "autograded" / account.work / account.assignment
    notebook = _json(place / f"{account.assignment}.ipynb")
    tilewise = notebook.get("metadata", {}).get("tilewise", {})
    reports = tilewise.get("reports", {})
    reason = account.reason
    if account.state is State.OPEN and not reason:
        reason = one_line("; ".join(dict.fromkeys(_reasons(tilewise))), LONGEST_REASON)
    answers = participation(notebook.get("cells", ()), asked)
    return Student(account, reason, reports, tuple(tilewise.get("tampered", ())), answers)


def _reasons(tilewise: Mapping[str, Any]) -> Iterator[str]:
    """Yield why the judge, or one of the instructor's own tests, gave no points."""
    for report in tilewise.get("reports", {}).values():
        if report["verdict"] == "ungraded":
            yield from (finding["message"] for finding in report["findings"])
    yield from tilewise.get("open", {}).values()


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
    """Return the most frequent findings first, each with a line of one student's code."""
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
    """Return the page: static HTML that has no scripts and loads nothing."""
    return rendered("report.html.j2", report=report, told=told)
