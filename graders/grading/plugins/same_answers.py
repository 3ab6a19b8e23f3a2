"""Shows on formgrader's page which submissions gave the same written answer, and its points.

Two answers are the same if only blanks, line ends and capitals differ. No points are given
automatically: the grader opens the other submissions beside this one. Names are hidden, as
formgrader does.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import Preprocessor
from nbformat.notebooknode import NotebookNode
from nbgrader.api import (
    Assignment,
    Grade,
    GradeCell,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.coursedir import CourseDirectory

from graders.grading import gradebooks
from graders.grading.plugins.possible_answers import is_untouched
from graders.grading.plugins.rubric import written_answer

NAMED = 20  # submissions that get a link
CACHED = 4_000  # notebooks: enough for the assignments of a class of 500


@dataclass(frozen=True)
class _Answer:
    """An answer that a person grades. `points` is None until then."""

    submission: str  # nbgrader's id of the notebook, as in formgrader's URL
    student: str
    points: float | None
    max_points: float

    @property
    def told(self) -> str:
        if self.points is None:
            return "not graded yet"
        return f"{self.points:g} of {self.max_points:g} points"


class ShowSameAnswers(Preprocessor):  # type: ignore[misc]
    """Adds a cell after each written answer that other students gave, too."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Add the cells on formgrader's pages only, which have a submission's number."""
        if "submission_id" not in resources:
            return nb, resources
        cells = []
        for cell in nb.cells:
            cells.append(cell)
            name = written_answer(cell)
            if name is not None and is_untouched(cell):
                name = None  # the answer, if there is one, is in another cell
            found = self._same(name, normalised(cell.source), resources) if name else []
            if found:
                cells.append(nbformat.v4.new_markdown_cell(_told(found, resources["base_url"])))
        return NotebookNode({**nb, "cells": cells}), resources

    def _same(self, name: str, text: str, resources: dict[str, Any]) -> list[_Answer]:
        """Return the others with this answer; [] if a person does not have to grade it."""
        place = CourseDirectory(config=self.config)
        assignment, notebook = resources["assignment_id"], resources["notebook_id"]
        everybody = _answers(place.db_url, assignment, notebook, name)
        if all(answer.submission != resources["submission_id"] for answer in everybody):
            return []

        def given(student: str) -> str | None:
            folder = place.format_path(place.autograded_directory, student, assignment)
            return _written(Path(folder) / f"{notebook}.ipynb").get(name)

        others = (a for a in everybody if a.submission != resources["submission_id"])
        return [answer for answer in others if given(answer.student) == text]


def _answers(database: str, assignment: str, notebook: str, name: str) -> list[_Answer]:
    """Return all students' answers; an empty one got its 0 automatically."""
    with gradebooks.shared(), gradebooks.opened(database, assignment) as gradebook:
        asked = (
            gradebook.db.query(
                *(SubmittedNotebook.id, SubmittedAssignment.student_id),
                *(Grade.manual_score, Grade.extra_credit, GradeCell.max_score),
            )
            .select_from(Grade)
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .join(GradeCell, GradeCell.id == Grade.cell_id)
            .filter(Assignment.name == assignment, Notebook.name == notebook)
            .filter(GradeCell.name == name, Grade.auto_score.is_(None))
            .order_by(SubmittedNotebook.id)
        )
        return [
            _Answer(number, student, None if points is None else points + (extra or 0), most)
            for number, student, points, extra, most in asked
        ]


def _written(path: Path) -> dict[str, str]:
    """Return the written answers of a notebook by name; {} if it is missing."""
    try:
        stamp = path.stat()
    except OSError:
        return {}
    return _read(path, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(CACHED)
def _read(path: Path, _changed: int, _size: int) -> dict[str, str]:
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError):
        return {}
    named = ((written_answer(cell), "".join(cell["source"])) for cell in cells)
    return {name: normalised(text) for name, text in named if name is not None}


def normalised(text: str) -> str:
    """Return the text in lower case, without blanks and line ends, for comparing."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _told(found: list[_Answer], base: str) -> str:
    count = len(found)
    head = f"**{count} other{'s' if count > 1 else ''} gave this same answer**"
    return f"{head} (open one beside this): {', '.join(_links(found, base))}"


def _links(found: list[_Answer], base: str) -> Iterator[str]:
    for answer in found[:NAMED]:
        yield f"[{answer.told}]({base}/formgrader/submissions/{answer.submission}/)"
    if len(found) > NAMED:
        yield f"and {len(found) - NAMED} more"
