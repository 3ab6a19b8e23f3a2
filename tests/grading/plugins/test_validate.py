"""`nbgrader validate`, as learners run it before they submit: it says what the judge says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from graders.authoring.class_folder import LEARNER
from graders.authoring.kernels import correct_kernel, wrong_kernel
from graders.authoring.rooms import Rooms, find_root
from graders.grading.plugins.commands import Nbgrader
from tests.support.small_course import ASSIGNMENT, EXERCISE, make

pytestmark = pytest.mark.slow
ROOMS = Rooms(find_root(Path(__file__)))
RIGHT = correct_kernel(ROOMS, EXERCISE.name, "careful_launcher")
WRONG = wrong_kernel(ROOMS, EXERCISE.name, "missing_mask")
Validate = Callable[[Callable[[Any], None]], str]


@pytest.fixture(scope="module")
def validate(tmp_path_factory: pytest.TempPathFactory) -> Validate:
    """Change the released notebook, validate it, and return what a learner reads."""
    course = make(tmp_path_factory.mktemp("course"))
    home = tmp_path_factory.mktemp("home")
    (home / LEARNER.name).write_text((course.folder / LEARNER).read_text())
    nbgrader = Nbgrader()

    def run(change: Callable[[Any], None]) -> str:
        notebook = nbformat.read(course.released, as_version=4)
        cell(notebook, "contiguity").source = "Its rows are not beside each other."
        change(notebook)
        (home / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(notebook))
        return nbgrader.run(home, "validate", f"{ASSIGNMENT}.ipynb").output

    return run


def cell(notebook: Any, name: str) -> Any:
    return next(cell for cell in notebook.cells if cell.id == name)


def answer(code: str) -> Callable[[Any], None]:
    return lambda notebook: cell(notebook, EXERCISE.name).update(source=code)


def test_a_right_kernel_is_valid(validate: Validate) -> None:
    assert "Success! Your notebook passes all the tests." in validate(answer(RIGHT))


def test_an_untouched_stub_is_not(validate: Validate) -> None:
    told = validate(lambda notebook: None)
    assert "VALIDATION FAILED ON 1 CELL(S)" in told
    assert "`vector_add` has no code of yours yet." in told


def test_a_wrong_kernel_is_not_and_says_why(validate: Validate) -> None:
    told = validate(answer(WRONG))
    assert "VALIDATION FAILED ON 1 CELL(S)" in told
    assert " cases hold." in told
    assert "Next: " in told
    assert "Traceback" not in told
    assert "..." not in told  # nothing is cut off


def test_a_kernel_that_is_not_there_is_not(validate: Validate) -> None:
    def delete(notebook: Any) -> None:
        notebook.cells.remove(cell(notebook, EXERCISE.name))

    told = validate(delete)
    assert "VALIDATION FAILED ON 1 CELL(S)" in told
    assert "`vector_add` is not defined yet" in told


def test_an_answer_that_nobody_wrote_is_not(validate: Validate) -> None:
    def forget(notebook: Any) -> None:
        answer(RIGHT)(notebook)
        cell(notebook, "contiguity").source = "YOUR ANSWER HERE"

    told = validate(forget)
    assert "VALIDATION FAILED ON 1 CELL(S)" in told
    assert "You did not provide a response." in told
