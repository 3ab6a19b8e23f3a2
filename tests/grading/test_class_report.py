"""The report on a class and the tables for an LMS, from a small graded course."""

import csv
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook
from sqlalchemy import Engine, event

from graders.cli.export import PLUGINS
from graders.cli.export import export as export_command
from graders.cli.report import report as report_command
from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.class_report import ClassReport, class_report, to_html
from graders.grading.plugins.export import CanvasExportPlugin, MoodleExportPlugin, harmless
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse, make

pytestmark = [
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
CLASS = {
    "ada": "right = 1",
    "barbara": "right = 2",
    "kurt": "wrong = 1",
    "tony": "wrong = '<script>alert(1)</script>'",
    "alan": "wrong = 3",
    "jean": "broken = 1",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    made = make(tmp_path_factory.mktemp("course"))
    for name, code in CLASS.items():
        made.hand_in(name, code)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
        grader = Autograder(made.folder, ASSIGNMENT)
        list(grader.grade(grader.students(), FakeJudging()))
    return made


def database(course: SmallCourse) -> str:
    return f"sqlite:///{course.folder / 'gradebook.db'}"


@pytest.fixture
def found(course: SmallCourse) -> ClassReport:
    return class_report(course.folder, ASSIGNMENT, database(course))


def test_frequent_misconceptions_are_counted_by_students(found: ClassReport) -> None:
    (line,) = found.misconceptions
    assert (line.exercise, line.code, line.students) == ("vector_add", "missing-mask", 3)


def test_the_ungraded_are_named_with_the_reason_and_count_for_nothing(found: ClassReport) -> None:
    assert [(s.name, s.reason) for s in found.ungraded] == [("jean", "the disk is full")]
    (exercise,) = found.exercises
    assert (exercise.graded, exercise.solved) == (5, 2)
    jean = next(student for student in found.students if student.name == "jean")
    assert jean.score is None
    assert jean.open == ("vector_add-hidden", "vector_add-public")


def test_hard_and_easy_exercises_are_marked(found: ClassReport) -> None:
    assert found.exercises[0].note == "perhaps too hard"


def test_the_page_loads_nothing_and_shows_text_as_text(found: ClassReport) -> None:
    page = to_html(found)
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert not re.search(r"(src|href)\s*=", page)
    for name in CLASS:
        assert name in page
    assert "open" in page


def test_the_command_writes_page_and_table(course: SmallCourse, tmp_path: Path) -> None:
    arguments = [ASSIGNMENT, "--course", str(course.folder), "--to", str(tmp_path)]
    done = CliRunner().invoke(report_command, arguments)
    assert done.exit_code == 0, done.output
    assert "not graded: jean: the disk is full" in done.output
    with open(tmp_path / f"{ASSIGNMENT}.csv", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert rows["ada"]["vector_add points"] == "10"
    assert rows["kurt"]["vector_add findings"] == "missing-mask"
    assert rows["jean"]["score"] == ""


@pytest.mark.parametrize(
    ("plugin", "key"), [(CanvasExportPlugin, "ID"), (MoodleExportPlugin, "ID number")]
)
def test_the_lms_gets_grades_and_an_empty_field_for_open_ones(
    course: SmallCourse, tmp_path: Path, plugin: type, key: str
) -> None:
    exporter = plugin()
    exporter.to = str(tmp_path / "grades.csv")
    with Gradebook(database(course)) as gradebook:
        exporter.export(gradebook)
    with open(exporter.to, newline="") as file:
        rows = {row[key]: row for row in csv.DictReader(file)}
    assert rows["ada"][ASSIGNMENT] == "10"
    assert rows["kurt"][ASSIGNMENT] == "0"
    assert rows["jean"][ASSIGNMENT] == ""


@pytest.mark.parametrize("platform", sorted(PLUGINS))
def test_the_command_writes_the_table_and_names_who_is_not_graded(
    course: SmallCourse, tmp_path: Path, platform: str
) -> None:
    exporter = PLUGINS[platform]()
    exporter.to = str(tmp_path / "known.csv")
    with Gradebook(database(course)) as gradebook:
        exporter.export(gradebook)
    path = tmp_path / "folder" / "grades.csv"
    place = ["--course", str(course.folder), "--to", str(path)]
    done = CliRunner().invoke(export_command, [platform, *place])
    assert done.exit_code == 0, done.output
    assert path.read_bytes() == (tmp_path / "known.csv").read_bytes()
    assert "not graded: jean, 01_vector_add: the disk is full" in done.output


def test_canvas_gets_its_row_of_points_possible(course: SmallCourse, tmp_path: Path) -> None:
    exporter = CanvasExportPlugin()
    exporter.to = str(tmp_path / "grades.csv")
    with Gradebook(database(course)) as gradebook:
        exporter.export(gradebook)
    with open(exporter.to, newline="") as file:
        rows = list(csv.reader(file))
    assert rows[1][0].strip() == "Points Possible"
    assert rows[1][-1] == "15"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x"])
def test_no_name_becomes_a_formula(text: str) -> None:
    assert harmless(text) == f"'{text}"
    assert harmless("ada") == "ada"


def test_no_query_is_made_for_each_student(course: SmallCourse, tmp_path: Path) -> None:
    asked: dict[str, set[str]] = {}  # the parameters by the text of the query

    def ask(*words: object) -> None:
        asked.setdefault(str(words[2]), set()).add(str(words[3]))

    event.listen(Engine, "before_cursor_execute", ask)
    try:
        class_report(course.folder, ASSIGNMENT, database(course))
        exporter = CanvasExportPlugin()
        exporter.to = str(tmp_path / "grades.csv")
        with Gradebook(database(course)) as gradebook:
            exporter.export(gradebook)
    finally:
        event.remove(Engine, "before_cursor_execute", ask)
    text, parameters = max(asked.items(), key=lambda query: len(query[1]))
    assert len(parameters) < len(CLASS) - 1, text
    assert sum("grade" in text for text in asked) >= 2  # what was counted are its queries
