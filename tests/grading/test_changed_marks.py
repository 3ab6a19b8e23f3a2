"""The log of changed marks, and the report as JSON for programs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

from graders.authoring.rooms import find_root
from graders.cli.report import report as report_command
from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.class_report import ClassReport, class_report, to_html
from graders.grading.ledger import changes
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse

pytestmark = [pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]
ROSTER = "id,first_name,last_name\nada,Ada,Lovelace\nkurt,Kurt,Gödel\nwang,小明,王\n"


@pytest.fixture
def course(template: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    shutil.copytree(template.folder, tmp_path / "course")
    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    (tmp_path / "course" / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return SmallCourse(tmp_path / "course", template.released)


def grade(course: SmallCourse) -> None:
    grader = Autograder(course.folder, ASSIGNMENT)
    list(grader.grade(grader.students(), FakeJudging()))


def by_hand(course: SmallCourse, student: str, points: float) -> None:
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        found = gradebook.find_grade("contiguity", ASSIGNMENT, ASSIGNMENT, student)
        found.manual_score, found.needs_manual_grade = points, False
        gradebook.db.commit()


def logged(course: SmallCourse) -> list[tuple[str, str, object, object, str]]:
    found = class_report(course.folder, ASSIGNMENT).changes
    return [(c.student, c.cell, c.before, c.after, c.reason) for c in found]


def test_each_changed_mark_is_logged_once_with_its_reason(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.hand_in("ada", "right = 1")
    grade(course)
    assert logged(course) == []
    by_hand(course, "ada", 3)
    seen = [("ada", "contiguity", 0, 3, changes.BY_HAND)]
    assert logged(course) == seen
    course.hand_in("ada", "wrong = 1")
    grade(course)
    seen += [
        ("ada", "contiguity", 3, None, changes.OUTDATED),
        ("ada", "vector_add-hidden", 6, 0, changes.ANOTHER_WORK),
        ("ada", "vector_add-public", 4, 0, changes.ANOTHER_WORK),
    ]
    assert logged(course) == seen
    by_hand(course, "ada", 3)
    seen.append(("ada", "contiguity", None, 3, changes.BY_HAND))
    assert logged(course) == seen
    (course.folder / "rules.toml").write_text(
        f"[due]\n{ASSIGNMENT} = 2026-03-02T12:00:00Z\n[late]\nper_day = 50\n"
    )
    path = course.folder / "submitted" / "ada" / ASSIGNMENT / "timestamp.txt"
    path.write_text("2026-03-02 13:00:00 UTC")
    grade(course)
    seen.append(("ada", "penalty", 0, 1.5, changes.LATENESS))
    assert logged(course) == seen
    assert logged(course) == seen


@pytest.fixture
def graded(course: SmallCourse) -> ClassReport:
    course.hand_in("ada", "right = 1")
    course.hand_in("kurt", "broken = 1")
    course.hand_in("guest", "wrong = 1")
    grade(course)
    return class_report(course.folder, ASSIGNMENT)


def test_names_absent_students_and_strangers_are_on_the_page(graded: ClassReport) -> None:
    page = to_html(graded)
    assert [account.student for account in graded.absent] == ["wang"]
    assert [student.name for student in graded.off_roster] == ["guest"]
    assert "小明 王" in page
    assert "Kurt Gödel" in page
    kurt = next(student for student in graded.students if student.name == "kurt")
    assert (kurt.score, kurt.max_score) == (None, 15)


def test_questions_have_points_as_the_gradebook_has_them(graded: ClassReport) -> None:
    found = {question.cell: question for question in graded.questions}
    public = found["vector_add-public"]
    assert (public.points, public.median, public.open) == ((0, 4), 2, 1)
    assert (public.bands, public.full) == ((1, 0, 0, 0, 1), 1)
    assert [(m.code, m.students) for m in public.mistakes] == [("missing-mask", 1)]


def test_the_json_is_as_its_schema_says(course: SmallCourse, graded: ClassReport) -> None:
    options = [ASSIGNMENT, "--course", str(course.folder), "--json"]
    done = CliRunner().invoke(report_command, options)
    assert done.exit_code == 0, done.output
    assert "nothing handed in: wang" in done.output
    assert "not on the roster: guest" in done.output
    text = (course.folder / "reports" / f"{ASSIGNMENT}.json").read_text(encoding="utf-8")
    schema = json.loads((find_root(Path(__file__)) / "docs" / "report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(text), schema, jsonschema.Draft202012Validator)
    scores = {s["student"]: s["score"] for s in json.loads(text)["students"]}
    assert scores == {"ada": 10, "kurt": None, "guest": 0, "wang": None}
