"""A student asks for regrading; the instructor sees it and answers; the page shows the answer."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

from graders.cli.course import course as course_command
from graders.cli.feedback import feedback
from graders.grading import judging
from graders.grading.autograde import Autograder
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse

pytestmark = [pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]


@pytest.fixture
def course(template: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    shutil.copytree(template.folder, tmp_path / "course")
    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    return SmallCourse(tmp_path / "course", template.released)


def answers(notebook: Any) -> None:
    next(cell for cell in notebook.cells if cell.id == "contiguity").source = "Its strides."


def asks(notebook: Any) -> None:
    answers(notebook)
    said = "**Regrade request:** contiguity.\nI name the stride & 1 < 2."
    notebook.cells.append(nbformat.v4.new_markdown_cell(said))


def grade(course: SmallCourse) -> None:
    grader = Autograder(course.folder, ASSIGNMENT)
    list(grader.grade(grader.students(), FakeJudging()))


def by_hand(course: SmallCourse, points: float | None = None) -> tuple[float | None, bool]:
    """Give points for ada's answer; return those in the gradebook, and whether they are open."""
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        found = gradebook.find_grade("contiguity", ASSIGNMENT, ASSIGNMENT, "ada")
        if points is not None:
            found.manual_score, found.needs_manual_grade = points, False
            gradebook.db.commit()
        return found.manual_score, found.needs_manual_grade


def requests(course: SmallCourse, *options: str) -> tuple[int, str]:
    command = ["requests", ASSIGNMENT, "--course", str(course.folder), *options]
    done = CliRunner().invoke(course_command, command)
    return done.exit_code, done.output


def page(course: SmallCourse) -> str:
    done = CliRunner().invoke(feedback, [ASSIGNMENT, "--course", str(course.folder)])
    assert done.exit_code == 0, done.output
    place = course.folder / "feedback" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.html"
    return place.read_text(encoding="utf-8")


def test_a_request_in_a_cell_is_listed_answered_and_shown(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1", answers)
    grade(course)
    by_hand(course, 3)
    assert requests(course) == (0, f"{ASSIGNMENT}: 0 requests, 0 open\n")
    course.hand_in("ada", "right = 1", asks)
    grade(course)
    assert by_hand(course) == (3, False), "to ask is no other work"
    code, said = requests(course)
    assert code == 2
    assert "1 requests, 1 open" in said
    assert "  ada: contiguity. I name the stride & 1 < 2.\n    open\n" in said
    assert "It is not answered yet." in page(course)
    by_hand(course, 5)
    code, said = requests(course, "--answer", "ada", "You do: 5 points <now>.")
    assert (code, said) == (0, "ada: 1 answered; write the page with `tilewise feedback`\n")
    shown = page(course)
    assert "15 of 15 points" in shown
    assert "You do: 5 points &lt;now&gt;." in shown
    assert "I name the stride &amp; 1 &lt; 2." in shown
    assert "It is not answered yet." not in shown
    assert requests(course)[0] == 0
    course.hand_in("ada", "right = 1", answers)  # without the cell: the answer stays
    grade(course)
    assert "You do: 5 points" in requests(course)[1]


def test_a_request_in_a_file(course: SmallCourse, tmp_path: Path) -> None:
    path = course.hand_in("ada", "right = 1", answers)
    (path.parent / "regrade.md").write_text("\ufeff# Regrade request\nWhy 3?\n", encoding="utf-8")
    kurt = course.hand_in("kurt", "right = 1")
    (tmp_path / "secret").write_text("the roster")
    (kurt.parent / "regrade.md").symlink_to(tmp_path / "secret")
    grade(course)
    code, said = requests(course)
    assert (code, said) == (2, f"{ASSIGNMENT}: 1 requests, 1 open\n  ada: Why 3?\n    open\n")


def test_an_answer_needs_a_request(course: SmallCourse) -> None:
    code, said = requests(course, "--answer", "ada", "No.")
    assert (code, said) == (1, f"Error: ada has no open request for {ASSIGNMENT}\n")


def test_an_answer_in_the_cell_of_a_request_is_no_silent_zero(course: SmallCourse) -> None:
    def only_asks(notebook: Any) -> None:
        asks(notebook)
        released = nbformat.read(course.released, as_version=4)
        untouched = next(cell for cell in released.cells if cell.id == "contiguity").source
        next(cell for cell in notebook.cells if cell.id == "contiguity").source = untouched

    course.hand_in("ada", "right = 1", only_asks)
    grade(course)
    assert by_hand(course) == (None, True)
