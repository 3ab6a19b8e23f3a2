"""Gradebooks of nbgrader, opened and read without a query for each student.

nbgrader makes an engine for each gradebook, ten for one student, and a fresh engine compiles
every query anew: about a third of the time that writing takes. Its connections are closed
with each gradebook as before. What a table of a class shows of submissions is fetched at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import nbgrader.api
from nbgrader.api import (
    Assignment,
    Gradebook,
    MissingEntry,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import create_engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import joinedload, selectinload, undefer

from graders.authoring.refusal import refusal
from graders.grading.atomic_files import read_json, write_atomically
from graders.judge.plain_text import one_line

_engine_of = cache(create_engine)


@contextmanager
def shared() -> Iterator[None]:
    """Gradebooks of the same database share an engine inside the block."""
    usual = nbgrader.api.create_engine
    nbgrader.api.create_engine = _engine_of
    try:
        yield
    finally:
        nbgrader.api.create_engine = usual


@contextmanager
def opened(database: str, *assignments: str) -> Iterator[Gradebook]:
    """A gradebook to read from, which is there and knows these assignments; else GraderError."""
    file = database.removeprefix("sqlite:///")
    if file != database and not Path(file).is_file():  # nbgrader would make an empty one
        raise refusal(f"there is no gradebook at {file}: run `tilewise autograde` first")
    try:
        with Gradebook(database) as gradebook:
            for assignment in assignments:
                try:
                    gradebook.find_assignment(assignment)
                except MissingEntry as error:
                    raise refusal(f"the gradebook does not know {assignment}") from error
            yield gradebook
    except SQLAlchemyError as error:
        raise refusal(f"the gradebook cannot be read: {one_line(str(error))}") from error


def submissions(gradebook: Gradebook, assignment: str) -> list[Any]:
    """All submissions of an assignment with their scores and grades, whatever their number."""
    notebooks = selectinload(SubmittedAssignment.notebooks)
    found: list[Any] = (
        gradebook.db.query(SubmittedAssignment)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == assignment)
        .options(
            undefer(SubmittedAssignment.score),
            undefer(SubmittedAssignment.max_score),
            joinedload(SubmittedAssignment.student),
            joinedload(SubmittedAssignment.assignment),
            notebooks.undefer(SubmittedNotebook.score),
            notebooks.joinedload(SubmittedNotebook.notebook),
            notebooks.selectinload(SubmittedNotebook.grades).joinedload(nbgrader.api.Grade.cell),
        )
        .all()
    )
    return found


def is_open(grade: Any) -> bool:
    """Whether nobody has given points yet, neither the judge nor a person."""
    return grade.auto_score is None and grade.manual_score is None


class Finished:
    """The students of an assignment whose grades nbgrader has written, in `folder`."""

    def __init__(self, course: Path, assignment: str) -> None:
        self.folder = course / ".tilewise" / "graded" / assignment

    def get(self, student: str) -> dict[str, Any]:
        """What was kept by `put`; {} when there is nothing or its file is damaged."""
        return read_json(self._path(student))

    def ungraded(self) -> dict[str, str]:
        """The students whose last grading ended without a grade, and why."""
        found = {path.stem: self.get(path.stem) for path in sorted(self.folder.glob("*.json"))}
        return {name: one_line(str(s["reason"])) for name, s in found.items() if s.get("reason")}

    def put(self, student: str, state: Mapping[str, Any]) -> None:
        """Remember what the grade depended on (`digest`), and why it is open (`reason`)."""
        write_atomically(self._path(student), state)

    def _path(self, student: str) -> Path:
        return self.folder / f"{student}.json"
