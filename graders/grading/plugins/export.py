"""Exporters for `nbgrader export`: grades.csv, and tables for Canvas, Moodle and Gradescope.

    nbgrader export --exporter=graders.grading.plugins.export.CanvasExportPlugin --to=canvas.csv

All of them show the accounts of the ledger. A grade that is open, or was given by hand to earlier
work, stays empty: an LMS reads an empty field as "no change", and 0 as zero points. The log names
students who are not graded, handed in nothing or are not on the roster.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, Student
from nbgrader.plugins import ExportPlugin

from graders.grading.ledger.accounts import Account, State, told
from graders.grading.ledger.book import Ledger
from graders.grading.ledger.terms import terms_of
from graders.judge.plain_text import one_line

LONGEST_CELL = 2_000  # characters in a table


class _Export(ExportPlugin):  # type: ignore[misc]
    """Writes accounts to `--to`; `--assignment` and `--student` limit them."""

    default_name = "grades.csv"
    accounts: Mapping[str, Sequence[Account]] = {}  # by assignment, after writing

    def rows(
        self, gradebook: Gradebook, accounts: Mapping[str, Sequence[Account]]
    ) -> Iterator[Sequence[str]]:
        raise NotImplementedError

    def export(self, gradebook: Gradebook) -> None:
        root = Path(self.parent.coursedir.root) if self.parent is not None else Path()
        ledger = Ledger(gradebook, terms_of(root, self.config, self.parent))
        wanted, chosen = {str(name) for name in self.assignment}, [str(s) for s in self.student]
        self.accounts = {}
        for assignment in gradebook.assignments:
            if not wanted or assignment.name in wanted:
                ledger.settle(assignment.name)
                self.accounts[assignment.name] = ledger.accounts(assignment.name, chosen)
        path = self.to or self.default_name
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(self.rows(gradebook, self.accounts))
        self.log.info("Exported to %s", path)
        for line in remarks(self.accounts):
            self.log.warning("%s", line)


def remarks(accounts: Mapping[str, Sequence[Account]]) -> Iterator[str]:
    """Yield a line for each grade missing in a table, and for each student not on the roster."""
    for assignment, found in accounts.items():
        for account in found:
            who = f"{one_line(account.student)}, {assignment}"
            if account.state is State.OPEN:
                yield f"NOT GRADED: {who}: {account.reason or account.waits_for}"
            if account.handed_in and not account.on_roster:
                yield f"NOT ON THE ROSTER: {who}"
        absent = [one_line(account.student) for account in found if not account.handed_in]
        if absent:
            yield f"NOTHING HANDED IN: {assignment}: {', '.join(absent)}"


class GradesExportPlugin(_Export):
    """nbgrader's columns and the state of the grade; one row per assignment and student."""

    HEAD = (
        *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
        *("raw_score", "late_submission_penalty", "score", "max_score", "state"),
    )

    def rows(
        self, gradebook: Gradebook, accounts: Mapping[str, Sequence[Account]]
    ) -> Iterator[Sequence[str]]:
        students = {student.id: student for student in gradebook.students}
        yield self.HEAD
        for assignment, found in accounts.items():
            for account in found:
                late, student = account.lateness, students.get(account.student)
                names = [getattr(student, name, "") for name in self.HEAD[4:7]]
                points = (account.reached, account.penalty) if account.handed_in else (None, None)
                yield [
                    assignment,
                    *(str(time or "") for time in (late.due, late.handed_in)),
                    *(harmless(str(text or "")) for text in (account.student, *names)),
                    *map(told, (*points, account.score, account.max_score)),
                    str(account.state),
                ]


class _TableExport(_Export):
    """One row per student, one column per assignment."""

    def head(self) -> list[str]:
        raise NotImplementedError

    def student_columns(self, student: Any) -> list[str]:
        raise NotImplementedError

    def rows_before(self, assignments: Sequence[Any]) -> Iterator[list[str]]:
        yield from ()

    def rows(
        self, gradebook: Gradebook, accounts: Mapping[str, Sequence[Account]]
    ) -> Iterator[Sequence[str]]:
        by_student: dict[str, dict[str, Account]] = {}
        for assignment, found in accounts.items():
            for account in found:
                by_student.setdefault(account.student, {})[assignment] = account
        yield [*self.head(), *accounts]
        yield from self.rows_before([a for a in gradebook.assignments if a.name in accounts])
        known = {student.id: student for student in gradebook.students}  # sorted by name
        for name in sorted(by_student, key=[*known, *sorted(by_student)].index):
            own = by_student[name]
            columns = self.student_columns(known.get(name) or Student(id=name))
            scores = (own[assignment].score for assignment in accounts)
            yield [*map(harmless, columns), *map(told, scores)]


def _name(student: Any) -> str:
    names = [part for part in (student.last_name, student.first_name) if part]
    return ", ".join(names) or str(student.id)


class CanvasExportPlugin(_TableExport):
    """The CSV that Canvas's gradebook imports, with its row of points possible."""

    def head(self) -> list[str]:
        return ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]

    def student_columns(self, student: Any) -> list[str]:
        """Return Canvas's columns. Without a roster, the id here is Canvas's own number."""
        number = str(student.lms_user_id or "")
        return [
            _name(student),
            number or str(student.id),
            "",
            str(student.id) if number else "",
            "",
        ]

    def rows_before(self, assignments: Sequence[Any]) -> Iterator[list[str]]:
        points = [f"{assignment.max_score:g}" for assignment in assignments]
        yield ["    Points Possible", "", "", "", "", *points]


class MoodleExportPlugin(_TableExport):
    """The CSV that Moodle's gradebook imports, matched by ID number."""

    def head(self) -> list[str]:
        return ["ID number", "First name", "Last name", "Email address"]

    def student_columns(self, student: Any) -> list[str]:
        return [
            str(student.id),
            student.first_name or "",
            student.last_name or "",
            student.email or "",
        ]


class GradescopeExportPlugin(_TableExport):
    """A CSV with Gradescope's column names, matched by student id or e-mail address."""

    def head(self) -> list[str]:
        return ["First Name", "Last Name", "SID", "Email"]

    def student_columns(self, student: Any) -> list[str]:
        return [
            student.first_name or "",
            student.last_name or "",
            str(student.lms_user_id or student.id),
            student.email or "",
        ]


def harmless(text: str) -> str:
    """Return the text as one line that no spreadsheet reads as a formula."""
    line = one_line(text, LONGEST_CELL)
    return f"'{line}" if line[:1] in ("=", "+", "-", "@") else line
