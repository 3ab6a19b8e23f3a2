"""An instructor's own assignment beside ours, with ordinary nbgrader tests of all kinds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import nbformat

from graders.grading.autograde import Autograder, GradedStudent
from graders.grading.course_config import load_config
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse, ask_alembic_once

HOMEWORK = "homework"
RIGHT = "def square(x):\n    return x * x"
WRONG = "def square(x):\n    return 2 * x"
STUB = None  # what learners get stays as it is
ANSWER = "def square(x):\n    ### BEGIN SOLUTION\n    return x * x\n    ### END SOLUTION\n"
HIDDEN = "assert square(-5) == 25, 'hidden: a negative number'"
TESTS = {
    "visible": (2, "assert square(3) == 9, 'the square of 3 is 9'"),
    "hidden": (
        3,
        f"assert square(2) == 4\n### BEGIN HIDDEN TESTS\n{HIDDEN}\n### END HIDDEN TESTS",
    ),
    "partial": (4, "sum(1.0 for n in range(4) if square(n) == n * n)"),
    "noisy": (1, "import sys\nprint('a warning', file=sys.stderr)\nassert square(0) == 0"),
}
Change = Callable[[Any], None]
Scores = dict[str, dict[str, float | None]]  # by student and cell; None where a person is asked


def label(
    cell: Any, name: str, points: float | None = None, solution: bool = False, task: bool = False
) -> Any:
    """The cell with nbgrader's metadata of schema 3."""
    cell.id = name
    cell.metadata["nbgrader"] = {
        "schema_version": 3,
        "grade_id": name,
        "grade": points is not None and not task,
        "solution": solution,
        "locked": not solution,
        "task": task,
    } | ({} if points is None else {"points": points})
    return cell


def graded_cell(name: str, points: float, source: str) -> Any:
    return label(nbformat.v4.new_code_cell(source), name, points)


def homework(tests: dict[str, tuple[int, str]] | None = None) -> list[Any]:
    """The cells of the source notebook."""
    return [
        nbformat.v4.new_code_cell("import math", id="imports"),
        label(nbformat.v4.new_code_cell(ANSWER), "square", solution=True),
        *(graded_cell(name, *held) for name, held in (TESTS if tests is None else tests).items()),
    ]


def write(course: SmallCourse, cells: Sequence[Any], name: str = HOMEWORK) -> Path:
    """Put a source notebook into the course and let nbgrader generate the assignment."""
    ask_alembic_once()
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = nbformat.v4.new_notebook(cells=list(cells), metadata={"kernelspec": kernel})
    path = course.folder / "source" / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    generate(course, name)
    return path


def generate(course: SmallCourse, name: str) -> None:
    """`nbgrader generate_assignment --force`."""
    from nbgrader.apps.api import NbGraderAPI

    api = NbGraderAPI(config=load_config(course.folder, None))
    done = api.generate_assignment(name, force=True)
    assert done["success"], done


def add_to_lesson(course: SmallCourse, cell: Any) -> None:
    """Insert a cell at the end of our lesson, as an instructor would."""
    path = course.folder / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(cell)
    nbformat.write(notebook, path)
    generate(course, ASSIGNMENT)


def hand_in(
    course: SmallCourse,
    student: str,
    code: str | None,
    change: Change | None = None,
    name: str = HOMEWORK,
    answer: str = "square",
    bom: bool = False,
) -> Path:
    """Submit what was released, with this code in the answer cell."""
    released = course.folder / "release" / name / f"{name}.ipynb"
    notebook = nbformat.read(released, as_version=4)
    if code is not None:
        next(cell for cell in notebook.cells if cell.id == answer).source = code
    if change is not None:
        change(notebook)
    path = course.folder / "submitted" / student / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(notebook)
    path.write_text(text, encoding="utf-8-sig" if bom else "utf-8")
    return path


def before(code: str) -> Change:
    """Code in a cell of its own before everything else."""

    def change(notebook: Any) -> None:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(code, id="mine"))

    return change


def by_nbgrader(course: SmallCourse, name: str = HOMEWORK) -> tuple[Scores, str]:
    """The marks of `nbgrader autograde`, and what it logged."""
    from nbgrader.apps.api import NbGraderAPI

    api = NbGraderAPI(config=load_config(course.folder, None))
    done = api.autograde(name, "*", force=True)
    return scores(course, name), str(done.get("log", "")) + str(done.get("error", ""))


def by_tilewise(
    course: SmallCourse, name: str = HOMEWORK
) -> tuple[Scores, dict[str, GradedStudent]]:
    """The marks of `tilewise autograde`, and how each submission ended."""
    grader = Autograder(course.folder, name)
    results = list(grader.grade(grader.students(), FakeJudging()))
    return scores(course, name), {result.student: result for result in results}


def scores(course: SmallCourse, name: str = HOMEWORK) -> Scores:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        return {
            submission.student.id: {
                grade.name: None if grade.needs_manual_grade else grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(name)
        }


def page(course: SmallCourse, student: str, name: str = HOMEWORK) -> str:
    """The feedback page."""
    from nbgrader.apps.api import NbGraderAPI

    api = NbGraderAPI(config=load_config(course.folder, None))
    done = api.generate_feedback(name, student, force=True)
    assert done["success"], done
    return (course.folder / "feedback" / student / name / f"{name}.html").read_text()


def autograded(course: SmallCourse, student: str, name: str = HOMEWORK) -> Any:
    path = course.folder / "autograded" / student / name / f"{name}.ipynb"
    return nbformat.read(path, as_version=4)
