"""`tilewise course move`: a class from SQLite to PostgreSQL, with everything, or not at all."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from sqlalchemy import create_engine, text

from graders.cli.course import course as course_command
from graders.cli.export import PLUGINS
from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.class_report import class_report, to_html
from graders.grading.course_config import load_config
from graders.grading.ledger import moving
from graders.grading.report.tables import as_json, write_csv
from tests.support import postgres
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse, make

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
RULES = f"""\
[due]
{ASSIGNMENT} = 2026-03-02T12:00:00Z
[late]
per_day = 10
free_days = 1
[extensions.ada]
{ASSIGNMENT} = {{days = 1}}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres.server() as url:
        yield url


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    """Three late works; points by hand, a comment, extra credit, both kinds of extension."""
    course = make(tmp_path_factory.mktemp("course"))
    (course.folder / "rules.toml").write_text(RULES)
    (course.folder / "roster.csv").write_text(
        "id,first_name,last_name,email,lms_user_id\nada,Ada,Lovelace,a@x.org,1\n"
        "kurt,Kurt,Gödel,,2\njean,Jean,Bartik,,3\nnever,王,小明,,4\n",
        encoding="utf-8",
    )
    for name, code in {"ada": "right = 1", "kurt": "wrong = 1", "jean": "broken = 1"}.items():
        path = course.hand_in(name, code, answers)
        (path.parent / "timestamp.txt").write_text("2026-03-05 11:00:00.25 UTC")
    grade(course)
    with Gradebook(url_of(course)) as gradebook:
        for name, points in {"ada": 2.25, "kurt": 5}.items():
            found = gradebook.find_grade("contiguity", ASSIGNMENT, ASSIGNMENT, name)
            found.manual_score, found.needs_manual_grade = points, False
        gradebook.find_grade("contiguity", ASSIGNMENT, ASSIGNMENT, "kurt").extra_credit = 0.1
        comment = gradebook.find_comment("contiguity", ASSIGNMENT, ASSIGNMENT, "ada")
        comment.manual_comment = "Schön: 步长.\nBut why?"
        gradebook.find_submission(ASSIGNMENT, "kurt").extension = timedelta(hours=36)
        gradebook.db.commit()
    return course


def answers(notebook: Any) -> None:
    next(cell for cell in notebook.cells if cell.id == "contiguity").source = "Its strides."


def grade(course: SmallCourse) -> dict[str, str]:
    grader = Autograder(course.folder, ASSIGNMENT)
    return {r.student: r.status for r in grader.grade(grader.students(), FakeJudging())}


def url_of(course: SmallCourse) -> str:
    return f"sqlite:///{course.folder / 'gradebook.db'}"


@pytest.fixture
def course(graded: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    shutil.copytree(graded.folder, tmp_path / "course")
    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    return SmallCourse(tmp_path / "course", graded.released)


@pytest.fixture
def empty(server: str, request: pytest.FixtureRequest) -> str:
    """The URL of a new database."""
    name = f"grades_{abs(hash(request.node.name))}"
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")  # type: ignore[call-overload]
    return server.replace("/postgres", f"/{name}")


def move(course: SmallCourse, url: str, *options: str) -> tuple[int, str]:
    done = CliRunner().invoke(
        course_command, ["move", url, "--course", str(course.folder), *options]
    )
    return done.exit_code, done.output


def outputs(course: SmallCourse, pages: bool = True) -> dict[str, Any]:
    """Everything that the class's own gradebook says: report, tables, feedback, comments."""
    folder, place = course.folder, course.folder / "table.csv"
    report = class_report(folder, ASSIGNMENT)
    found: dict[str, Any] = {"json": as_json(report), "html": to_html(report)}
    write_csv(report, place)
    found["csv"] = place.read_text()
    config = load_config(folder, None)
    api = NbGraderAPI(config=config)
    with Gradebook(str(config.CourseDirectory.db_url)) as gradebook:
        for platform, plugin in PLUGINS.items():
            exporter = plugin(parent=api)
            exporter.to = str(place)
            exporter.log.setLevel("CRITICAL")
            exporter.export(gradebook)
            found[platform] = place.read_text()
        for name in ("ada", "kurt", "jean"):
            row = gradebook.find_submission(ASSIGNMENT, name)
            found[name] = [row.extension, row.timestamp, row.late_submission_penalty]
            found[name] += sorted((c.name, c.comment or "") for c in row.notebooks[0].comments)
    for name in ("ada", "kurt", "jean") if pages else ():
        assert api.generate_feedback(ASSIGNMENT, name, force=True)["success"]
        page = folder / "feedback" / name / ASSIGNMENT / f"{ASSIGNMENT}.html"
        found[f"page of {name}"] = page.read_text(encoding="utf-8")
    return found


def test_everything_moves_and_counts_from_then_on(course: SmallCourse, empty: str) -> None:
    before = outputs(course)
    assert "\nada,Ada Lovelace,graded,11.0" in before["csv"]  # 12.25, less 10 % for the third day
    code, said = move(course, empty)
    assert code == 0, said
    assert "4 students, 1 assignments, 3 submissions, 9 grades" in said
    assert "compared: all rows, and 4 totals" in said
    assert str(load_config(course.folder, None).CourseDirectory.db_url) == empty
    (course.folder / "gradebook.db").unlink()
    assert outputs(course) == before
    grade(course)
    assert outputs(course) == before
    with Gradebook(empty) as gradebook:
        gradebook.find_grade("contiguity", ASSIGNMENT, ASSIGNMENT, "ada").manual_score = 0.0
        gradebook.db.commit()
    assert outputs(course)["csv"] != before["csv"]


def killed_at(step: str, course: SmallCourse, url: str) -> None:
    """Run the command in a fork, which is killed at this step."""

    def dies(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def then_dies(first: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: (first(*arguments), dies())

    child = os.fork()
    if child == 0:
        try:
            replaced: dict[str, Any] = {
                "first table": (moving, "_copy_table", then_dies(moving._copy_table)),
                "rows compared": (moving, "_is_copied", then_dies(moving._is_copied)),
                "committed": (moving, "_accounts", dies),
                "switching": (moving, "note_move", dies),
                "switched": (moving, "note_move", then_dies(moving.note_move)),
            }
            setattr(*replaced[step])
            move(course, url)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), step
    assert os.WTERMSIG(status) == signal.SIGKILL, step


@pytest.mark.parametrize("target", ["postgresql", "sqlite"])
def test_a_kill_at_any_moment_loses_nothing(
    course: SmallCourse, empty: str, tmp_path: Path, target: str
) -> None:
    url = empty if target == "postgresql" else f"sqlite:///{tmp_path / 'new.db'}"
    before = outputs(course, pages=False)
    sizes = []
    for step in ("first table", "rows compared", "committed", "switching", "switched"):
        killed_at(step, course, url)
        in_use = str(load_config(course.folder, None).CourseDirectory.db_url)
        assert in_use == (url if step == "switched" else url_of(course)), step
        sizes.append(students_in(url))
    assert sizes == [0, 0, 4, 4, 4]
    assert outputs(course, pages=False) == before
    code, said = move(course, url)
    assert (code, said) == (1, "Error: that is the gradebook of this class already\n")


def students_in(url: str) -> int:
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return int(connection.execute(text("SELECT count(*) FROM student")).scalar_one())
    except Exception:
        return 0  # it has no tables yet
    finally:
        engine.dispose()


def test_a_copy_that_was_complete_is_used(course: SmallCourse, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"
    assert move(course, url)[0] == 0
    (course.folder / ".tilewise" / "gradebook.json").unlink()
    code, said = move(course, url)
    assert code == 0, said
    assert "(copied before)" in said


def test_a_file_is_named_by_its_whole_path(
    course: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert move(course, "sqlite:///new.db")[0] == 0
    in_use = str(load_config(course.folder, None).CourseDirectory.db_url)
    assert in_use == f"sqlite:///{tmp_path / 'new.db'}"


def test_another_gradebook_is_replaced_only_on_request(course: SmallCourse, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"
    with Gradebook(url) as other:
        other.add_student("tony")
    code, said = move(course, url)
    assert code == 1
    assert "contains another gradebook (student): name an empty database" in said
    assert str(load_config(course.folder, None).CourseDirectory.db_url) == url_of(course)
    before = outputs(course, pages=False)
    code, said = move(course, url, "--replace")
    assert code == 0, said
    assert outputs(course, pages=False) == before


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("gpu2026", "the new gradebook is a URL: postgresql+psycopg://"),
        ("postgres://x@localhost/y", "a URL for PostgreSQL begins with postgresql+psycopg://"),
        ("postgresql+psycopg://x:word@127.0.0.1:1/y", "x:***@127.0.0.1:1/y does not take the"),
    ],
)
def test_what_is_wrong_with_a_target(course: SmallCourse, url: str, why: str) -> None:
    code, said = move(course, url)
    assert code == 1
    assert why in said
    assert "word" not in said.replace("password", "")
    assert str(load_config(course.folder, None).CourseDirectory.db_url) == url_of(course)


def test_a_variable_that_names_another_gradebook_is_told(
    course: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWISE_DB", url_of(course))
    code, said = move(course, f"sqlite:///{tmp_path / 'new.db'}")
    assert code == 0, said
    assert "NOT IN USE: TILEWISE_DB or nbgrader_config.py names another gradebook" in said
