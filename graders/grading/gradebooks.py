"""Opens nbgrader's gradebooks, and reads them without a query for each student.

nbgrader makes an engine for each gradebook, ten per student. A new engine compiles every query
again, which takes about a third of the time for writing. So gradebooks share an engine here;
each still closes its own connections. The submissions for a class table are fetched in one go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import nbgrader.api
from nbgrader.api import (
    Assignment,
    BaseCell,
    Gradebook,
    GradeCell,
    MissingEntry,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import create_engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import joinedload, selectinload, with_polymorphic

from graders.authoring.refusal import refusal
from graders.judge.plain_text import one_line

_engine_of = cache(create_engine)


@contextmanager
def shared() -> Iterator[None]:
    """Inside the block, gradebooks of the same database share an engine."""
    usual = nbgrader.api.create_engine
    nbgrader.api.create_engine = _engine_of
    try:
        yield
    finally:
        nbgrader.api.create_engine = usual


@contextmanager
def opened(database: str, *assignments: str) -> Iterator[Gradebook]:
    """Open a gradebook for reading; GraderError if it or one of the assignments is missing."""
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


def submissions(gradebook: Gradebook, assignment: str, students: Sequence[str] = ()) -> list[Any]:
    """Return all submissions of an assignment with their grades, in a fixed number of queries.

    students: return only theirs, if any are given.
    """
    notebooks = selectinload(SubmittedAssignment.notebooks)
    cells = with_polymorphic(BaseCell, [GradeCell, TaskCell], flat=True)
    query = (
        gradebook.db.query(SubmittedAssignment)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .filter(Assignment.name == assignment)
        .options(
            joinedload(SubmittedAssignment.student),
            joinedload(SubmittedAssignment.assignment),
            notebooks.joinedload(SubmittedNotebook.notebook),
            notebooks.selectinload(SubmittedNotebook.grades).joinedload(
                nbgrader.api.Grade.cell.of_type(cells)
            ),
        )
    )
    if students:
        query = query.filter(SubmittedAssignment.student_id.in_(students))
    return list(query.all())
