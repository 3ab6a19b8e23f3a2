"""Exporters for `nbgrader export`: the tables that Canvas, Moodle and Gradescope work with.

    nbgrader export --exporter=graders.grading.plugins.export.CanvasExportPlugin --to=canvas.csv

A grade that is still open stays empty: an LMS takes an empty field for "no change", and a
zero for a zero. Who is not graded is named in the log, with the reason. A late penalty is worked
out anew from the score as it is: points given by hand after autograding count, too.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from nbgrader.preprocessors import AssignLatePenalties

from graders.grading.finished import Finished
from graders.grading.gradebooks import is_open, submissions
from graders.judge.plain_text import one_line

LONGEST_CELL = 2_000  # characters in a table


class _TableExport(ExportPlugin):  # type: ignore[misc]
    """One row per student, one column per assignment."""

    default_name = "grades.csv"

    def head(self) -> list[str]:
        raise NotImplementedError

    def student_columns(self, student: Any) -> list[str]:
        raise NotImplementedError

    def rows_before(self, assignments: Sequence[Any]) -> Iterator[list[str]]:
        yield from ()

    def export(self, gradebook: Gradebook) -> None:
        """Write the table to `--to`; `--assignment` and `--student` limit it."""
        wanted = {str(name) for name in self.assignment}
        assignments = [found for found in gradebook.assignments if _in(found.name, wanted)]
        handed_in = [{s.student_id: s for s in submissions(gradebook, a.name)} for a in assignments]
        chosen = {str(name) for name in self.student}
        path = self.to or self.default_name
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*self.head(), *(assignment.name for assignment in assignments)])
            writer.writerows(self.rows_before(assignments))
            for student in gradebook.students:
                if _in(student.id, chosen):
                    scores = [self._score(found.get(student.id)) for found in handed_in]
                    columns = [harmless(text) for text in self.student_columns(student)]
                    writer.writerow([*columns, *scores])
        self.log.info("Exported to %s", path)
        self._name_the_ungraded([a.name for a in assignments], chosen)

    def _name_the_ungraded(self, assignments: Sequence[str], chosen: set[str]) -> None:
        root = Path(self.parent.coursedir.root) if self.parent is not None else Path()
        for assignment in assignments:
            for student, reason in Finished(root, assignment).ungraded().items():
                if _in(student, chosen):
                    self.log.warning("NOT GRADED: %s, %s: %s", assignment, student, reason)

    def _score(self, submission: Any) -> str:
        """The score after its late penalty; "" where nothing is handed in or a grade is open."""
        if submission is None or any(is_open(g) for n in submission.notebooks for g in n.grades):
            return ""
        student, late = submission.student_id, submission.total_seconds_late
        penalties = [self._penalty(student, n.score, late) for n in submission.notebooks]
        return f"{max(0.0, submission.score - sum(penalties)):g}"

    def _penalty(self, student: str, score: float, seconds_late: float) -> float:
        """What nbgrader's plugin for late submissions takes off a notebook with this score."""
        if seconds_late <= 0:
            return 0.0
        late = AssignLatePenalties(parent=self.parent, config=self.config)
        late.init_plugin()
        found = late.plugin_inst.late_submission_penalty(student, score, seconds_late)
        return min(max(0.0, found or 0.0), score)


def _in(name: str, wanted: set[str]) -> bool:
    return not wanted or name in wanted


def _name(student: Any) -> str:
    names = [part for part in (student.last_name, student.first_name) if part]
    return ", ".join(names) or str(student.id)


class CanvasExportPlugin(_TableExport):
    """The CSV that Canvas's gradebook imports, with its row of points possible."""

    def head(self) -> list[str]:
        return ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]

    def student_columns(self, student: Any) -> list[str]:
        """Canvas finds students by its own number; without a roster that is their id here."""
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
    """A CSV with Gradescope's names of the columns, matched by student id or e-mail address."""

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
    """A text of one line that no spreadsheet takes for a formula."""
    line = one_line(text, LONGEST_CELL)
    return f"'{line}" if line[:1] in ("=", "+", "-", "@") else line
