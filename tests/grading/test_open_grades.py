"""What is not graded is named, what a person decided stays, and errors are one line."""

from __future__ import annotations

import csv
import logging
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, LoggingConfigurable

from graders.cli import autograde as autograde_command
from graders.cli.export import export
from graders.cli.report import report
from graders.grading import fork_server, judging
from graders.grading.autograde import Autograder
from graders.grading.class_report import class_report
from graders.grading.course_config import load_config
from graders.grading.demo import read_scores
from graders.grading.plugins.export import GradesExportPlugin, MoodleExportPlugin
from graders.judge.records import GraderError
from graders.judge.speed import limits
from tests.support.loaded import loaded
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse

pytestmark = [pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]


@pytest.fixture
def course(template: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    folder = tmp_path / "course"
    shutil.copytree(template.folder, folder)
    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    return SmallCourse(folder, template.released)


def grade(course: SmallCourse) -> dict[str, str]:
    grader = Autograder(course.folder, ASSIGNMENT)
    return {r.student: r.status for r in grader.grade(grader.students(), FakeJudging())}


def database(course: SmallCourse) -> str:
    return f"sqlite:///{course.folder / 'gradebook.db'}"


def answers(notebook: Any) -> None:
    cell = next(cell for cell in notebook.cells if cell.id == "contiguity")
    cell.source = "Because its rows are not beside each other."


class App(LoggingConfigurable):  # type: ignore[misc]
    """As much of nbgrader's export as the plugins look at."""

    def __init__(self, course: SmallCourse, config: Config) -> None:
        super().__init__(config=config)
        self.coursedir = CourseDirectory(root=str(course.folder), config=config)


def exported(course: SmallCourse, config: Config | None = None) -> dict[str, str]:
    """Student → the score that an LMS gets."""
    path = course.folder / "grades.csv"
    plugin = MoodleExportPlugin(parent=App(course, config or Config()))
    plugin.to = str(path)
    with Gradebook(database(course)) as gradebook:
        plugin.export(gradebook)
    with open(path, encoding="utf-8", newline="") as file:
        return {row["ID number"]: row[ASSIGNMENT] for row in csv.DictReader(file)}


def test_who_cannot_be_read_is_in_report_table_and_log(
    course: SmallCourse, caplog: pytest.LogCaptureFixture
) -> None:
    course.hand_in("ada", "right = 1")
    course.hand_in("kurt", "right = 1").write_text('{"cells": [')
    assert grade(course) == {"ada": "graded", "kurt": "ungraded"}
    found = class_report(course.folder, ASSIGNMENT, database(course))
    assert [student.name for student in found.students] == ["ada", "kurt"]
    assert [student.name for student in found.ungraded] == ["kurt"]
    done = CliRunner().invoke(report, [ASSIGNMENT, "--course", str(course.folder)])
    assert done.exit_code == 0
    assert done.output.startswith("2 submissions")
    assert "not graded: kurt: the notebook cannot be graded: The notebook is damaged" in done.output
    table = (course.folder / "reports" / f"{ASSIGNMENT}.csv").read_text()
    assert 'kurt,,open,,15,0,0,contiguity vector_add-hidden vector_add-public,"the note' in table
    with caplog.at_level(logging.WARNING, logger="traitlets"):
        exported(course)
    assert f"NOT GRADED: kurt, {ASSIGNMENT}: the notebook cannot be graded" in caplog.text


def test_an_open_grade_in_the_table_has_no_score(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1", answers)
    course.hand_in("kurt", "wrong = 1")
    grade(course)
    path = course.folder / "grades.csv"
    plugin = GradesExportPlugin(parent=App(course, Config()))
    plugin.to = str(path)
    with Gradebook(database(course)) as gradebook:
        plugin.export(gradebook)
    assert read_scores(path) == {"ada": None, "kurt": 0}


def test_a_penalty_goes_by_the_score_as_it_is(course: SmallCourse) -> None:
    with Gradebook(database(course)) as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2026-03-02 12:00:00 UTC")
    path = course.hand_in("ada", "right = 1")
    (path.parent / "timestamp.txt").write_text("2026-03-05 12:00:00 UTC")
    course.hand_in("kurt", "right = 1")
    grade(course)
    with Gradebook(database(course)) as gradebook:
        for student in ("ada", "kurt"):
            for grade_ in gradebook.find_submission(ASSIGNMENT, student).notebooks[0].grades:
                if grade_.name == "contiguity":
                    grade_.manual_score, grade_.needs_manual_grade = 5, False
        gradebook.db.commit()
    assert exported(course) == {"ada": "15", "kurt": "15"}
    late = Config()
    late.LateSubmissionPlugin.penalty_method = "zero"
    assert exported(course, late) == {"ada": "0", "kurt": "15"}


def test_what_a_person_graded_stays_graded_until_the_notebook_changes(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wants_a_person() -> bool:
        with Gradebook(database(course)) as gradebook:
            (notebook,) = gradebook.find_submission(ASSIGNMENT, "ada").notebooks
            return any(g.needs_manual_grade for g in notebook.grades if g.name == "contiguity")

    course.hand_in("ada", "right = 1", answers)
    grade(course)
    assert wants_a_person()
    with Gradebook(database(course)) as gradebook:
        (notebook,) = gradebook.find_submission(ASSIGNMENT, "ada").notebooks
        for found in notebook.grades:
            if found.name == "contiguity":
                found.manual_score, found.needs_manual_grade = 5, False
        gradebook.db.commit()
    monkeypatch.setattr(judging, "mark_key", lambda code, name: f"another judge, {name}")
    assert grade(course) == {"ada": "graded"}
    assert not wants_a_person()
    course.hand_in("ada", "right = 2", answers)
    assert grade(course) == {"ada": "graded"}
    assert wants_a_person()


@pytest.mark.parametrize("mode", ["gpu", "all"])
def test_a_mode_without_its_gpu_changes_nothing(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    course.hand_in("ada", "right = 1")
    monkeypatch.setattr(limits, "has_gpu", lambda: False)
    monkeypatch.setenv(judging.MODE, mode)
    before = sorted(path for path in course.folder.rglob("*"))
    options = [ASSIGNMENT, "--course", str(course.folder), "--mode", mode]
    done = CliRunner().invoke(autograde_command.autograde, options)
    assert done.exit_code == 1
    assert f"there is no GPU here, which --mode {mode} asks for" in done.output
    assert sorted(path for path in course.folder.rglob("*")) == before


@pytest.mark.parametrize("address", ["foo", "tcp://", "http:/x", ""])
def test_an_address_that_is_none_is_said_at_once(address: str) -> None:
    done = CliRunner().invoke(autograde_command.autograde, [ASSIGNMENT, "--scheduler", address])
    assert done.exit_code == 2
    assert "is no address" in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["09_nothing"], "the gradebook does not know 09_nothing: run `nbgrader generate_assign"),
        ([ASSIGNMENT, "--db", "nonsense"], "the gradebook cannot be reached"),
        ([ASSIGNMENT, "--db", "sqlite:////nowhere/at/all.db"], "the gradebook cannot be reached"),
    ],
)
def test_nothing_is_unpacked_for_what_cannot_be_graded(
    course: SmallCourse, tmp_path: Path, options: list[str], said: str
) -> None:
    """Nor does a judge start."""
    with zipfile.ZipFile(tmp_path / "lms.zip", "w") as archive:
        archive.writestr("ada/answer.py", "right = 1")
    place = ["--course", str(course.folder), "--from", str(tmp_path / "lms.zip")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(autograde_command, "_judging", lambda *_: pytest.fail("a judge started"))
        patch.setattr(fork_server, "start", lambda: None)
        done = CliRunner().invoke(autograde_command.autograde, [*options, *place])
    assert done.exit_code == 1, done.output
    assert said in done.output
    assert done.output.count("\n") == 1
    assert not (course.folder / "submitted").exists()


def test_where_nothing_is_to_judge_no_process_is_started(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even the one that imports torch for the others."""
    monkeypatch.setattr(fork_server, "start", lambda: pytest.fail("a process was started"))
    place = [ASSIGNMENT, "--course", str(course.folder)]
    done = CliRunner().invoke(autograde_command.autograde, place)
    assert done.exit_code == 0, done.output
    assert "0 submissions: 0 graded, 0 unchanged, 0 ungraded\n" in done.output
    assert "--collect fetches it, --from takes a folder or zip" in done.output
    course.hand_in("ada", "right = 1")
    assert grade(course) == {"ada": "graded"}
    done = CliRunner().invoke(autograde_command.autograde, place)
    assert done.exit_code == 0, done.output
    assert done.output.endswith("1 submissions: 0 graded, 1 unchanged, 0 ungraded\n")
    done = CliRunner().invoke(autograde_command.autograde, [*place, "--only", "kurt"])
    assert done.exit_code == 1
    assert done.output == f"Error: nothing submitted by kurt for {ASSIGNMENT}\n"


def test_what_comes_from_a_zip_is_graded_with_the_gradebook_opened_once(
    course: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "lms.zip", "w") as archive:
        archive.writestr("ada/answer.py", "right = 1")
    made: list[Path] = []

    def noted(place: Path, assignment: str, db: str | None) -> Autograder:
        made.append(place)
        return Autograder(place, assignment, db)

    monkeypatch.setattr(autograde_command, "_grader", noted)
    monkeypatch.setattr(autograde_command, "_judging", lambda *_: FakeJudging())
    monkeypatch.setattr(fork_server, "start", lambda: None)
    place = [ASSIGNMENT, "--course", str(course.folder), "--from", str(tmp_path / "lms.zip")]
    done = CliRunner().invoke(autograde_command.autograde, place)
    assert done.exit_code == 0, done.output
    assert "1 submissions: 1 graded" in done.output
    assert made == [course.folder]


def test_reports_and_tables_that_cannot_be_made_say_why_in_one_line(course: SmallCourse) -> None:
    place = ["--course", str(course.folder)]
    blocked = course.folder / "blocked"
    blocked.write_text("a file, no folder")
    for options, said in (
        (["09_nothing", *place], "the gradebook does not know 09_nothing"),
        ([ASSIGNMENT, *place, "--db", "sqlite:////nowhere/at/all.db"], "there is no gradebook at"),
        ([ASSIGNMENT, *place, "--db", "nonsense"], "the gradebook cannot be read"),
        ([ASSIGNMENT, *place, "--to", str(blocked / "in" / "it")], "with --to"),
        ([ASSIGNMENT, "--course", "nowhere"], "nowhere is no class: it has no nbgrader_config.py"),
    ):
        for command, before in ((report, []), (export, ["canvas"])):
            done = CliRunner().invoke(command, [*before, *options])
            assert done.exit_code == 1, done.output
            assert said in done.output
            assert done.output.count("\n") == 1


@pytest.mark.parametrize("mode", ["gpu", "all"])
def test_nbgraders_own_command_changes_nothing_either(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    path = course.hand_in("ada", "right = 1")
    assert grade(course) == {"ada": "graded"}
    (path.parent / "timestamp.txt").write_text("2026-03-05 12:00:00 UTC")
    monkeypatch.setattr(limits, "has_gpu", lambda: False)
    monkeypatch.setenv(judging.MODE, mode)
    before = exported(course), (course.folder / "gradebook.db").read_bytes()
    api = NbGraderAPI(config=load_config(course.folder, None))
    done = api.autograde(ASSIGNMENT, "ada", force=True)
    assert not done["success"]
    assert f"there is no GPU here, which --mode {mode} asks for" in done["error"]
    assert (exported(course), (course.folder / "gradebook.db").read_bytes()) == before


def test_a_second_gradebook_is_filled_as_the_message_says(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1")
    url = f"sqlite:///{course.folder / 'second.db'}"
    with pytest.raises(GraderError, match=f"nbgrader generate_assignment {ASSIGNMENT} --force"):
        Autograder(course.folder, ASSIGNMENT, url)
    api = NbGraderAPI(config=load_config(course.folder, url))
    assert api.generate_assignment(ASSIGNMENT, force=True)["success"]
    grader = Autograder(course.folder, ASSIGNMENT, url)
    (result,) = grader.grade(grader.students(), FakeJudging())
    assert result.status == "graded"


def test_a_lone_script_and_a_renamed_notebook_are_graded(course: SmallCourse) -> None:
    script = course.hand_in("kurt", "").with_name("my work.py")
    script.with_name(f"{ASSIGNMENT}.ipynb").unlink()
    script.write_bytes(b"\xef\xbb\xbfdef vector_add(x, y):\n    return right\n")
    notebook = course.hand_in("ada", "right = 1")
    notebook.rename(notebook.with_name("final (2).ipynb"))
    notebook.with_name("helpers.py").write_text("wrong = 1")
    assert grade(course) == {"ada": "graded", "kurt": "graded"}
    assert exported(course) == {"ada": "10", "kurt": "10"}


def test_what_is_open_stands_in_the_headline_of_the_feedback(course: SmallCourse) -> None:
    course.hand_in("ada", "right = 1", answers)
    assert grade(course) == {"ada": "graded"}
    api = NbGraderAPI(config=load_config(course.folder, None))
    assert api.generate_feedback(ASSIGNMENT, "ada")["success"]
    page = course.folder / "feedback" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.html"
    assert "10 of 15 points, 5 of them not graded yet</h1>" in page.read_text()


def test_a_page_of_feedback_shows_formulas_and_refers_to_no_host(course: SmallCourse) -> None:
    def explains(notebook: Any) -> None:
        cell = next(cell for cell in notebook.cells if cell.id == "contiguity")
        cell.source = "At $i \\cdot s$ lies $$\\frac{x_i}{2}$$ and ![x](https://far.example/x.png)"

    course.hand_in("ada", "right = 1", explains)
    assert grade(course) == {"ada": "graded"}
    api = NbGraderAPI(config=load_config(course.folder, None))
    assert api.generate_feedback(ASSIGNMENT, "ada")["success"]
    path = course.folder / "feedback" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.html"
    page = path.read_text(encoding="utf-8")
    assert page.count("<mfrac>") == 1
    assert "$" not in page[page.index("Your answer: contiguity</span>") :]
    assert "<script" not in page
    assert [address for address in loaded(page) if not address.startswith("data:")] == []
