"""Feedback goes back to the platform under the names that its files came with."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from graders.cli.feedback import feedback
from graders.grading.autograde import Autograder
from graders.grading.intake import origins
from graders.grading.intake.roster import read_roster
from graders.grading.intake.submissions import take
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse, make

pytestmark = [pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]
ROSTER = "id,first_name,last_name,lms_user_id\nada,Ada,Lovelace,1815\nkurt,Kurt,Gödel,1931\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    """Two submissions through Moodle, one in a folder and one flat, and one by hand."""
    made = make(tmp_path_factory.mktemp("course"))
    (made.folder / "roster.csv").write_text(ROSTER)
    packed = made.folder.parent / "moodle.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        text = made.released.read_text().replace("# YOUR CODE HERE", "right = 1")
        archive.writestr("Ada Lovelace_7_assignsubmission_file_/my work.ipynb", text)
        archive.writestr("Kurt Gödel_8_assignsubmission_file_kernel.py", "right = 1")
    roster = read_roster(made.folder)
    taken = take(packed, made.folder / "submitted", ASSIGNMENT, roster=roster, lms="moodle")
    origins.keep(made.folder, ASSIGNMENT, taken.found)
    made.hand_in("grace", "right = 1")
    return made


def run(course: SmallCourse, *options: str) -> tuple[int, str]:
    done = CliRunner().invoke(feedback, [ASSIGNMENT, "--course", str(course.folder), *options])
    return done.exit_code, done.output


def test_before_anybody_is_graded_it_says_so(course: SmallCourse, tmp_path: Path) -> None:
    if not (course.folder / "autograded").exists():
        code, said = run(course)
        assert (code, said.count("\n")) == (1, 1)
        assert f"run `tilewise autograde {ASSIGNMENT}` first" in said


def test_names_come_back_and_who_has_no_page_is_named(course: SmallCourse, tmp_path: Path) -> None:
    grader = Autograder(course.folder, ASSIGNMENT)
    assert {r.status for r in grader.grade(["ada", "kurt"], FakeJudging())} == {"graded"}
    code, said = run(course)
    assert code == 2
    assert "2 pages" in said
    assert "no page: grace: not graded yet" in said
    list(grader.grade(grader.students(), FakeJudging()))
    target = tmp_path / "back.zip"
    assert run(course, "--zip", str(target))[0] == 0
    with zipfile.ZipFile(target) as archive:
        assert archive.namelist() == [
            "Ada Lovelace_7_assignsubmission_file_/my work.html",
            f"grace/{ASSIGNMENT}.html",
            "Kurt Gödel_8_assignsubmission_file_kernel.html",
        ]
        assert b"10 of 15 points" in archive.read("grace/01_vector_add.html")


def test_a_folder_that_cannot_be_written_is_one_line(course: SmallCourse) -> None:
    code, said = run(course, "--zip", str(course.folder / "nowhere" / "back.zip"))
    assert (code, said.count("\n")) == (1, 1)
