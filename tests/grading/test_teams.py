"""A team's work counts for each member; late days and extensions stay everybody's own."""

from __future__ import annotations

import shutil
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

from graders.cli.autograde import _take
from graders.cli.course import rules
from graders.cli.feedback import feedback
from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.class_report import class_report
from graders.grading.intake.roster import read_roster
from graders.grading.intake.teams import read_teams
from graders.grading.ledger.accounts import Account
from graders.judge.records import GraderError
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse

pytestmark = [pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]
ROSTER = "id,first_name,last_name,team\nada,Ada,Lovelace,x\nkurt,Kurt,Gödel,x\ntony,Tony,,\n"


@pytest.fixture
def course(template: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    shutil.copytree(template.folder, tmp_path / "course")
    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    (tmp_path / "course" / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return SmallCourse(tmp_path / "course", template.released)


def hand_in(course: SmallCourse, student: str, code: str, time: str = "2026-03-02 12:00") -> None:
    path = course.hand_in(student, code)
    (path.parent / "timestamp.txt").write_text(f"{time}:00 UTC")


def accounts(course: SmallCourse) -> dict[str, Account]:
    grader = Autograder(course.folder, ASSIGNMENT)
    list(grader.grade(grader.students(), FakeJudging()))
    report = class_report(course.folder, ASSIGNMENT)
    found = [*(student.account for student in report.students), *report.absent]
    return {account.student: account for account in found}


def test_one_submission_counts_for_its_members(course: SmallCourse) -> None:
    hand_in(course, "ada", "right = 1")
    found = accounts(course)
    scores = {name: (a.score, a.work) for name, a in found.items()}
    assert scores == {"ada": (10, "ada"), "kurt": (10, "ada"), "tony": (None, "")}


def test_the_last_work_of_a_team_counts(course: SmallCourse) -> None:
    hand_in(course, "ada", "right = 1", "2026-03-02 12:00")
    hand_in(course, "kurt", "wrong = 1", "2026-03-02 13:00")
    assert {name: a.work for name, a in accounts(course).items()} == {
        "ada": "kurt",
        "kurt": "kurt",
        "tony": "",
    }


def test_points_by_hand_go_to_each_member(course: SmallCourse) -> None:
    hand_in(course, "ada", "right = 1")
    accounts(course)
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("contiguity", ASSIGNMENT, ASSIGNMENT, "ada")
        grade.manual_score, grade.needs_manual_grade = 3, False
        gradebook.db.commit()
    found = accounts(course)
    assert (found["ada"].score, found["kurt"].score) == (13, 13)


def test_extensions_and_late_days_are_a_members_own(course: SmallCourse) -> None:
    hand_in(course, "ada", "right = 1", "2026-03-04 11:00")  # begins its second day
    said = f"[due]\n{ASSIGNMENT} = 2026-03-02T12:00:00Z\n[late]\nper_day = 10\n"
    extended = f"[extensions.kurt]\n{ASSIGNMENT} = {{days = 1}}\n"
    (course.folder / "rules.toml").write_text(said + extended)
    found = accounts(course)
    assert (found["ada"].score, found["kurt"].score) == (8, 9)
    (course.folder / "rules.toml").write_text(f"{said}free_days = 1\n{extended}")
    found = accounts(course)
    assert (found["ada"].score, found["kurt"].score) == (9, 10)
    assert found["kurt"].lateness.free_days == 1


def test_late_days_are_taken_in_the_order_of_the_due_dates(course: SmallCourse) -> None:
    hand_in(course, "tony", "right = 1", "2026-03-04 11:00")
    (course.folder / "rules.toml").write_text(
        f"[due]\n{ASSIGNMENT} = 2026-03-02T12:00:00Z\n[late]\nper_day = 10\nfree_days = 3\n"
    )
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment("00_before", duedate="2026-02-01 12:00:00 UTC")
        gradebook.add_student("tony")
        gradebook.add_submission("00_before", "tony", timestamp="2026-02-03 12:00:00 UTC")
    tony = accounts(course)["tony"]
    assert (tony.lateness.free_days, tony.score) == (1, 9)
    assert tony.lateness.seconds == timedelta(hours=23).total_seconds()


METADATA = """
submission_11:
  :submitters:
  - :name: {first}
  - :name: Tony
  :created_at: 2026-03-04 11:00:00 Z
"""


def import_group(course: SmallCourse, tmp_path: Path, first: str, code: str) -> None:
    """Take a Gradescope zip with one submission of two students."""
    notebook = hand_in_elsewhere(course, code)
    with zipfile.ZipFile(tmp_path / "g.zip", "w") as archive:
        archive.writestr("submission_metadata.yml", METADATA.format(first=first))
        archive.writestr("submission_11/x.ipynb", notebook)
    assert not _take(course.folder, ASSIGNMENT, tmp_path / "g.zip", "gradescope", times=False)


def hand_in_elsewhere(course: SmallCourse, code: str) -> str:
    path = course.hand_in("elsewhere", code)
    text = path.read_text()
    shutil.rmtree(path.parents[1])
    return text


def test_a_group_of_gradescope_is_one_submission(course: SmallCourse, tmp_path: Path) -> None:
    """Kurt is in Ada's team in the roster, and here in a group with Tony."""
    said = f"[due]\n{ASSIGNMENT} = 2026-03-02T12:00:00Z\n[late]\nper_day = 10\n"
    (course.folder / "rules.toml").write_text(
        f"{said}[extensions.kurt]\n{ASSIGNMENT} = {{days = 1}}\n"
    )
    hand_in(course, "ada", "wrong = 1", "2026-03-02 11:00")
    import_group(course, tmp_path, "Kurt Gödel", "right = 1")
    import_group(course, tmp_path, "Kurt Gödel", "right = 1")  # again: nothing changes
    assert not (course.folder / "submitted" / "tony").exists()
    found = accounts(course)
    assert {name: (a.score, a.work) for name, a in found.items()} == {
        "ada": (0, "ada"),
        "kurt": (9, "kurt"),  # two days begun, one of them extended
        "tony": (8, "kurt"),
    }
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("contiguity", ASSIGNMENT, ASSIGNMENT, "kurt")
        grade.manual_score, grade.needs_manual_grade = 5, False
        gradebook.db.commit()
    found = accounts(course)
    assert (found["kurt"].score, found["tony"].score) == (13.5, 12)
    import_group(course, tmp_path, "Ada Lovelace", "right = 1")  # Kurt has left the group
    assert read_teams(course.folder, read_roster(course.folder)).members("kurt", ASSIGNMENT) == (
        "kurt",
    )


def test_each_member_gets_a_page(course: SmallCourse) -> None:
    hand_in(course, "ada", "right = 1")
    accounts(course)
    done = CliRunner().invoke(feedback, [ASSIGNMENT, "--course", str(course.folder)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("2 pages")
    page = course.folder / "feedback" / "kurt" / ASSIGNMENT / f"{ASSIGNMENT}.html"
    assert "10 of 15 points" in page.read_text(encoding="utf-8")
    assert not (course.folder / "autograded" / "kurt").exists()


def test_a_file_names_teams_by_assignment(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    (tmp_path / "teams.csv").write_text("assignment,student,team\n02_b,ada,y\n02_b,tony,y\n")
    teams = read_teams(tmp_path, read_roster(tmp_path))
    assert teams.members("ada", "01_a") == ("ada", "kurt")
    assert teams.members("ada", "02_b") == ("ada", "tony")
    assert teams.members("kurt", "02_b") == ("kurt",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("student\nada\n", "team is missing"),
        ("student,team\nzoe,x\n", "'zoe' is no id of the roster"),
        ("student,team\nada,x\nada,y\n", "'ada' is in two teams"),
    ],
)
def test_what_is_wrong_with_a_file_of_teams(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    (tmp_path / "teams.csv").write_text(text)
    with pytest.raises(GraderError, match=why):
        read_teams(tmp_path, read_roster(tmp_path))


def test_the_rules_of_a_class_are_shown_and_reach_the_gradebook(course: SmallCourse) -> None:
    (course.folder / "rules.toml").write_text(
        f"[due]\n{ASSIGNMENT} = 2026-03-02T12:00:00+01:00\n[late]\nper_day = 10\nmost = 50\n"
        f"free_days = 2\n[extensions.ada]\n{ASSIGNMENT} = {{days = 1}}\n"
    )
    done = CliRunner().invoke(rules, ["--course", str(course.folder)])
    assert done.exit_code == 0, done.output
    assert f"{ASSIGNMENT}: 2026-03-02 11:00 UTC, any number of attempts" in done.output
    assert "late: 10 % for each begun day, at most 50 %" in done.output
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        assert str(gradebook.find_assignment(ASSIGNMENT).duedate) == "2026-03-02 11:00:00"
