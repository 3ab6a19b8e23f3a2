"""An answer in words is found wherever it is, and a zero without a look needs an empty notebook."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI

from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.class_report import class_report
from graders.grading.course_config import load_config
from graders.grading.plugins.possible_answers import ShowPossibleAnswers, new_text
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse

pytestmark = [pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]
ANSWER = "Because its rows are further apart than they are wide."
Change = Callable[[Any], None]


@pytest.fixture
def course(template: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    shutil.copytree(template.folder, tmp_path / "course")
    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    return SmallCourse(tmp_path / "course", template.released)


def place_of(notebook: Any, name: str = "contiguity") -> int:
    return next(i for i, cell in enumerate(notebook.cells) if cell.id == name)


def put(kind: str, behind: int, text: str = ANSWER) -> Change:
    def change(notebook: Any) -> None:
        cell = getattr(nbformat.v4, f"new_{kind}_cell")(text)
        notebook.cells.insert(place_of(notebook) + behind, cell)

    return change


def into_the_question(notebook: Any) -> None:
    notebook.cells[place_of(notebook) - 1].source += f"\n\n{ANSWER}"


def into_a_copy(notebook: Any) -> None:
    place = place_of(notebook)
    copy = nbformat.from_dict({**notebook.cells[place], "source": ANSWER, "id": "copy"})
    notebook.cells.insert(place, copy)


def instead_of_it(notebook: Any) -> None:
    notebook.cells[place_of(notebook)] = nbformat.v4.new_markdown_cell(ANSWER)


WHERE: dict[str, Change] = {
    "above": put("markdown", 0),
    "below": put("markdown", 1),
    "code": put("code", 1),
    "comment": put("code", 1, f"# {ANSWER}"),
    "string": put("code", 1, f"answer = '{ANSWER}'"),
    "raw": put("raw", 1),
    "far-away": lambda notebook: notebook.cells.append(nbformat.v4.new_markdown_cell(ANSWER)),
    "question": into_the_question,
    "copy": into_a_copy,
    "instead": instead_of_it,
    "chinese": put("markdown", 1, "因为各行之间的距离大于行宽。"),
}


@pytest.mark.parametrize("where", sorted(WHERE))
def test_an_answer_goes_to_a_person_wherever_it_is(course: SmallCourse, where: str) -> None:
    course.hand_in("ada", "right = 1", WHERE[where])
    grader = Autograder(course.folder, ASSIGNMENT)
    assert [r.status for r in grader.grade(["ada"], FakeJudging())] == ["graded"]
    (ada,) = class_report(course.folder, ASSIGNMENT).students
    assert (ada.score, ada.open) == (None, ("contiguity",))
    with Gradebook(grader.database) as gradebook:
        comment = gradebook.find_comment("contiguity", ASSIGNMENT, ASSIGNMENT, "ada")
        assert comment.comment is None
    notebook = nbformat.read(grader.autograded("ada"), as_version=4)
    shown, _ = ShowPossibleAnswers().preprocess(notebook, {"submission_id": "1"})
    if where != "instead":
        (added,) = [c for c in shown.cells if c.source.startswith("**What else could be")]
        assert (ANSWER if where != "chinese" else "因为") in added.source


@pytest.mark.parametrize("command", ["tilewise", "nbgrader"])
def test_nothing_written_is_zero_points_without_a_look(course: SmallCourse, command: str) -> None:
    def only_blanks_and_the_lesson(notebook: Any) -> None:
        notebook.cells.append(nbformat.v4.new_markdown_cell("  \n"))
        again = nbformat.v4.new_markdown_cell(notebook.cells[0].source)  # the lesson's
        notebook.cells.append(again)

    course.hand_in("ada", "right = 1", only_blanks_and_the_lesson)
    grader = Autograder(course.folder, ASSIGNMENT)
    list(grader.grade(["ada"], FakeJudging()))
    if command == "nbgrader":
        api = NbGraderAPI(config=load_config(course.folder, None))
        assert api.autograde(ASSIGNMENT, "ada", force=True)["success"]
    (ada,) = class_report(course.folder, ASSIGNMENT).students
    assert (ada.score, ada.open) == (10, ())


@pytest.mark.parametrize(
    ("source", "new"),
    [
        ('predict("lanes_off_6", 26)', False),
        ('predict("lanes_off_6", 26)  # because the rows are apart', True),
        ('predict("lanes_off_6", "the last lanes read outside")', True),
        ("x = torch.rand(64)\nprint(x.stride())", True),  # of no cell of the lesson
        ("Because of the rows.", True),
    ],
)
def test_an_edited_cell_of_the_lesson_counts_where_it_adds_words(source: str, new: bool) -> None:
    lesson = [nbformat.v4.new_code_cell('predict("lanes_off_6", None)')]
    assert new_text([nbformat.v4.new_code_cell(source)], lesson) == ([0] if new else [])
