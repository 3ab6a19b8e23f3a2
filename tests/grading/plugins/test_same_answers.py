"""Formgrader shows beside an answer who gave the same one; nobody else's page says anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension

from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.course_config import load_config
from graders.grading.plugins import same_answers
from graders.grading.plugins.same_answers import normalised
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse, make

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
ANSWERS = {
    "ada": "Rows lie 2 apart, and are 3 wide.",
    "grace": "rows lie  2 apart,\nand are 3 wide. ",
    "kurt": "Rows lie 3 apart, and are 2 wide.",
    "idle": None,
    "late": None,
}


def hand_in(course: SmallCourse, student: str, answer: str | None) -> None:
    def writes(notebook: Any) -> None:
        if answer is not None:
            next(cell for cell in notebook.cells if cell.id == "contiguity").source = answer

    course.hand_in(student, "right = 1", writes)


def grade(course: SmallCourse) -> None:
    grader = Autograder(course.folder, ASSIGNMENT)
    assert all(r.status != "ungraded" for r in grader.grade(grader.students(), FakeJudging()))


def book(course: SmallCourse) -> Gradebook:
    return Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}")


def number(course: SmallCourse, student: str) -> str:
    """nbgrader's number of the student's notebook."""
    with book(course) as gradebook:
        return str(gradebook.find_submission(ASSIGNMENT, student).notebooks[0].id)


def give(course: SmallCourse, student: str, points: float) -> None:
    with book(course) as gradebook:
        grades = gradebook.find_submission(ASSIGNMENT, student).notebooks[0].grades
        (found,) = (grade for grade in grades if grade.name == "contiguity")
        found.manual_score, found.needs_manual_grade = points, False
        gradebook.db.commit()


def page(course: SmallCourse, student: str) -> str:
    """What formgrader shows of the student's submission."""
    config = FormgradeExtension().build_extra_config()
    config.merge(load_config(course.folder, None))
    path = course.folder / "autograded" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    resources = dict.fromkeys(("student", "last_name", "first_name", "notebook_path"), "")
    resources |= {"assignment_id": ASSIGNMENT, "notebook_id": ASSIGNMENT, "base_url": "/base"}
    more: dict[str, Any] = {"index": 0, "total": 5, "submission_id": number(course, student)}
    shown, _ = HTMLExporter(config=config).from_filename(str(path), resources=resources | more)
    return str(shown)


def test_the_same_answer_is_one_click_away_with_its_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    course = make(tmp_path)
    for student, answer in ANSWERS.items():
        hand_in(course, student, answer)
    grade(course)
    give(course, "ada", 3)
    link = f'href="/base/formgrader/submissions/{number(course, "ada")}/"'
    shown = page(course, "grace")
    assert "1 other gave this same answer" in shown
    assert f'{link} rel="noopener noreferrer">3 of 5 points</a>' in shown
    assert shown.index("and are 3 wide") < shown.index(link) < shown.index("Model answer and")
    assert "not graded yet</a>" in page(course, "ada")
    assert "same answer" not in page(course, "kurt")
    assert "same answer" not in page(course, "idle"), "who wrote nothing has a 0 by itself"
    api = NbGraderAPI(config=load_config(course.folder, None))
    assert api.generate_feedback(ASSIGNMENT, "grace")["success"]
    told = course.folder / "feedback" / "grace" / ASSIGNMENT / f"{ASSIGNMENT}.html"
    assert "same answer" not in told.read_text()

    hand_in(course, "kurt", ANSWERS["ada"])
    grade(course)
    assert "2 others gave this same answer" in page(course, "grace"), (
        "what was read is kept too long"
    )
    monkeypatch.setattr(same_answers, "NAMED", 1)
    assert "and 1 more" in page(course, "grace")


def test_notebooks_that_did_not_change_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = {"grade": True, "solution": True, "grade_id": "why"}
    cell = nbformat.v4.new_markdown_cell("So.", metadata={"nbgrader": marks})
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": [cell]}))
    reads: list[Path] = []
    read = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda p, **more: reads.append(p) or read(p, **more))
    assert same_answers._written(path) == same_answers._written(path) == {"why": "so."}
    assert reads == [path]
    path.write_text("{")
    assert same_answers._written(path) == {}
    assert same_answers._written(tmp_path / "none.ipynb") == {}


def test_what_says_something_makes_another_answer() -> None:
    assert normalised(" A\r\n b\u00a0C ") == normalised("a B c")
    for other in ("a bc", "a, b c", "a b c d", "a b k"):
        assert normalised(other) != normalised("a b c")
