"""A notebook is one program, whoever reads it: `tilewise grade`, the class, and the grade cells.

The grade cells are those that `nbgrader validate` and stock nbgrader execute. What `check` reads
of a session stands in test_given_cells.py.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import nbformat
import pytest

from graders.authoring.course import assignment
from graders.authoring.grade_cells import public_id
from graders.grading.judging import bare_notebook, code_of
from tests.judge.submission.test_given_cells import (
    ASKED,
    ROOMS,
    free_names,
    kernels_by_lesson,
    lesson_of,
    renamed,
    slice_of,
)


@cache
def assigned(lesson: str) -> str:
    """The assignment of a lesson, with its grade cells."""
    built = assignment(ROOMS, ROOMS.lesson_file(lesson), Path("source"))
    assert built is not None
    return built.text


def with_a_name_of_the_lesson(exercise: str) -> tuple[str, str]:
    """A right kernel under a name that the lesson binds, and that name.

    A plain function has no kernel: it stands as it is.
    """
    if lesson_of(exercise).function is not None:
        right = min((ROOMS.kernels(exercise) / "correct").glob("*.py"))
        return right.read_text(encoding="utf-8"), exercise
    for path, old in kernels_by_lesson()[lesson_of(exercise).lesson].items():
        names = sorted(free_names(path))
        if path.parent.parent.name == exercise and names:
            return renamed(path.read_text(encoding="utf-8"), old, names[0]), names[0]
    raise AssertionError(f"no right kernel of {exercise} can have a name of its lesson")


@pytest.mark.parametrize("name", sorted(ASKED))
def test_file_class_and_grade_cell_read_one_program(name: str) -> None:
    exercise = lesson_of(name)
    answer, new = with_a_name_of_the_lesson(name)
    notebook = nbformat.reads(assigned(exercise.lesson), as_version=4)
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    notebook.cells[ids.index(name)].source = answer
    before = notebook.cells[: ids.index(public_id(name))]
    executed = [c.source for c in before if c.cell_type == "code" and "grade_cell(" not in c.source]
    as_a_file = slice_of(nbformat.writes(notebook).encode(), exercise, True)
    in_class = slice_of(json.dumps(bare_notebook(code_of(notebook))).encode(), exercise, True)
    in_a_cell = slice_of(json.dumps(bare_notebook(executed)).encode(), exercise, True)
    assert any(f"def {new}(" in line for line in as_a_file)
    assert as_a_file == in_class == in_a_cell
