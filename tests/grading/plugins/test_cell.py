"""Grade cells that plain `nbgrader autograde` executes, with its stock `Execute`."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from graders.authoring.grade_cells import hidden_points, public_points
from graders.authoring.lesson import read_solutions
from graders.authoring.rooms import Rooms, find_root
from graders.grading.plugins import cell
from graders.judge.records import GraderError
from tests.support.small_course import ASSIGNMENT, EXERCISE, SmallCourse, fake_marks, make


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The grade cell with a judge that answers what the test says."""
    monkeypatch.setattr(cell, "_known", {})
    monkeypatch.setattr(cell, "executed_cells", lambda: ["right = 1"])

    def answer(code: str) -> None:
        monkeypatch.setattr(cell, "_ask", lambda request: {"marks": fake_marks(code).to_json()})

    return answer


def test_the_cell_prints_findings_and_returns_points(
    answering: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answering("wrong")
    assert cell.grade_cell("vector_add", part="public") == 0.0
    printed = capsys.readouterr()
    assert "missing-mask" in printed.out
    assert printed.err == ""
    cell._known.clear()
    answering("right")
    assert cell.grade_cell("vector_add", part="public") == public_points(EXERCISE)
    assert cell.grade_cell("vector_add", part="hidden") == hidden_points(EXERCISE)


def test_a_fault_of_ours_raises_and_returns_no_number(answering: Any) -> None:
    answering("broken")
    with pytest.raises(GraderError, match="the disk is full"):
        cell.grade_cell("vector_add", part="public")


def test_a_judge_that_does_not_answer_is_a_fault_of_ours(
    answering: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cell, "_ask", lambda request: {"error": "the judge's process ended"})
    with pytest.raises(GraderError, match="process ended"):
        cell.grade_cell("vector_add", part="hidden")


def test_under_autograde_a_fault_of_ours_ends_the_kernel() -> None:
    code = "from graders.grading.plugins.cell import _leave_ungraded; _leave_ungraded('x')"
    environment = os.environ | {"NBGRADER_EXECUTION": "autograde"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    return make(tmp_path_factory.mktemp("stock"))


def stock_autograde(course: SmallCourse, student: str) -> dict[str, Any]:
    """nbgrader's autograding with its own preprocessors, as a course without our trust has."""
    from nbgrader.apps.api import NbGraderAPI
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader(str(course.folder / "nbgrader_config.py")).load_config()
    del config["Autograde"]
    done: dict[str, Any] = NbGraderAPI(config=config).autograde(ASSIGNMENT, student)
    return done


def grades(course: SmallCourse, student: str) -> dict[str, tuple[float | None, bool]]:
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        submission = gradebook.find_submission(ASSIGNMENT, student)
        return {
            grade.name: (grade.auto_score, grade.needs_manual_grade)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_stock_nbgrader_executes_the_cells_and_gives_the_points(course: SmallCourse) -> None:
    solutions = read_solutions(Rooms(find_root(Path(__file__))).solutions / "vector_add.py")
    course.hand_in("ada", solutions["vector_add"])
    done = stock_autograde(course, "ada")
    assert done["success"], done
    found = grades(course, "ada")
    assert found["vector_add-public"] == (public_points(EXERCISE), False)
    assert found["vector_add-hidden"] == (hidden_points(EXERCISE), False)
    path = course.folder / "autograded" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    written = {c.id: c for c in nbformat.read(path, as_version=4).cells}
    kinds = {output.output_type for output in written["vector_add-hidden"].outputs}
    assert kinds == {"stream", "execute_result"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_stock_nbgrader_leaves_the_grade_open_when_the_kernel_ends(course: SmallCourse) -> None:
    course.hand_in("kurt", "import os\nos.kill(os.getpid(), 9)")
    done = stock_autograde(course, "kurt")
    assert not done["success"]
    assert grades(course, "kurt")["vector_add-public"] == (None, True)
