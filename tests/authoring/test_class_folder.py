"""The folder of a class: made once, the instructor's from then on, worked in with real nbgrader."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result

from graders.authoring import class_folder
from graders.authoring.rooms import Rooms
from graders.cli.build import build
from graders.cli.course import course
from graders.grading.course_config import load_config
from graders.grading.plugins.commands import Nbgrader
from graders.judge.records import GraderError
from tests.support.small_course import ASSIGNMENT, lesson_rooms

ROOT = Path(__file__).parents[2]


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rooms:
    """A clone of one lesson, in which the commands run; classes stand beside it."""
    (tmp_path / "clone").mkdir()
    monkeypatch.chdir(tmp_path / "clone")
    return lesson_rooms(tmp_path / "clone")


def tilewise(*arguments: object) -> Result:
    return CliRunner().invoke(course, [str(a) for a in arguments])


def said(done: Result) -> str:
    """The one line of a command that fails."""
    assert done.exit_code == 1, done.output
    assert done.output.startswith("Error: ")
    assert done.output.count("\n") == 1
    return done.output


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_class_has_all_that_nbgrader_asks_for(rooms: Rooms, tmp_path: Path) -> None:
    folder = tmp_path / "gpu2026"
    done = tilewise("init", folder)
    assert done.exit_code == 0, done.output
    assert set(contents(folder)) == {
        "nbgrader_config.py", "learner/nbgrader_config.py", "roster.csv",
        f"source/{ASSIGNMENT}/{ASSIGNMENT}.ipynb", ".tilewise/assignments.json",
    }  # fmt: skip
    assert folder.stat().st_mode & 0o777 == 0o700  # solutions and grades stand in it
    assert (folder / "exchange").stat().st_mode & 0o777 == 0o777
    config = load_config(folder, None)
    assert config.CourseDirectory.course_id == "gpu2026"
    assert config.Exchange.root == str(folder / "exchange")


def test_a_learner_fetches_and_submits_with_the_learners_configuration(
    rooms: Rooms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, home = tmp_path / "gpu2026", tmp_path / "home"
    exchange = tmp_path / "shared" / "exchange"
    assert tilewise("init", folder, "--exchange", exchange).exit_code == 0
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(home / "data"))
    nbgrader = Nbgrader()
    nbgrader.run(folder, "generate_assignment", ASSIGNMENT)
    nbgrader.run(folder, "release_assignment", ASSIGNMENT)
    home.mkdir()
    (home / class_folder.CONFIG).write_bytes((folder / class_folder.LEARNER).read_bytes())
    mine = ("--student=ada", f"--Exchange.cache={home / 'cache'}")
    nbgrader.run(home, "fetch_assignment", ASSIGNMENT, *mine)
    nbgrader.run(home, "submit", ASSIGNMENT, *mine)
    nbgrader.run(folder, "collect", ASSIGNMENT, "--ExchangeCollect.check_owner=False")
    handed_in = folder / "submitted" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    assert nbformat.read(handed_in, as_version=4).cells
    assert (folder / "gradebook.db").is_file()


def test_what_is_the_instructors_survives_every_command(rooms: Rooms, tmp_path: Path) -> None:
    folder = tmp_path / "gpu2026"
    assert tilewise("init", folder).exit_code == 0
    with open(folder / class_folder.CONFIG, "a", encoding="utf-8") as config:
        config.write('c.LateSubmissionPlugin.penalty_method = "zero"\n')
    own = folder / "source" / "my_homework" / "my_homework.ipynb"
    own.parent.mkdir()
    own.write_text(nbformat.writes(nbformat.v4.new_notebook()))
    (folder / "submitted" / "ada").mkdir(parents=True)
    (folder / "submitted" / "ada" / "work.txt").write_text("hers")
    before = contents(folder)
    assert CliRunner().invoke(build, []).exit_code == 0
    assert said(tilewise("init", folder)).count("holds a class already") == 1
    assert tilewise("update", "--course", folder).exit_code == 0
    assert contents(folder) == before
    assert load_config(folder, None).LateSubmissionPlugin.penalty_method == "zero"
    Nbgrader().run(folder, "generate_assignment", "my_homework")
    assert (folder / "release" / "my_homework" / "my_homework.ipynb").is_file()


def test_a_new_lesson_reaches_the_class_and_a_changed_one_is_not_written_over(
    rooms: Rooms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gpu2026"
    assert tilewise("init", folder).exit_code == 0
    source = folder / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    lesson = rooms.lessons / f"{ASSIGNMENT}.py"
    lesson.write_text(lesson.read_text().replace("Why does", "Explain why"))
    monkeypatch.chdir(rooms.root)
    done = tilewise("update", "--course", folder)
    assert f"nbgrader generate_assignment {ASSIGNMENT} --force" in done.output
    assert "Explain why" in source.read_text()
    mine = source.read_text().replace("Explain why", "Tell me why")
    source.write_text(mine)
    lesson.write_text(lesson.read_text().replace("Explain why", "In a sentence, why"))
    done = tilewise("update", "--course", folder)
    assert f"{ASSIGNMENT}: left as you changed it" in done.output
    assert source.read_text() == mine
    source.unlink()
    tilewise("update", "--course", folder)
    assert "In a sentence, why" in source.read_text()


def test_each_misuse_is_told_in_one_line(rooms: Rooms, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    roster = tmp_path / "roster.csv"
    assert "is a file" in said(tilewise("init", tmp_path / "file"))
    assert "lies in the clone" in said(tilewise("init", rooms.root / "build" / "course"))
    assert "is no course id" in said(tilewise("init", tmp_path / "my class"))
    assert "is no course id" in said(tilewise("init", tmp_path / "a", "--id", "a+b"))
    assert "No such file" in said(tilewise("init", tmp_path / "a", "--roster", roster))
    assert "Not a directory" in said(tilewise("init", tmp_path / "file" / "class"))
    assert "there is no class in this folder" in said(tilewise("update"))
    assert "is no class" in said(tilewise("update", "--course", tmp_path))
    assert not (tmp_path / "a").exists()


def test_a_configuration_that_is_broken_is_told_in_one_line(rooms: Rooms, tmp_path: Path) -> None:
    for text, why in (
        ("c = get_config(", "SyntaxError"),
        ("import nothing_there", "ModuleNotFoundError"),
        ("c = get_config()", "names no gradebook"),
    ):
        (tmp_path / class_folder.CONFIG).write_text(text)
        with pytest.raises(GraderError, match=why) as caught:
            load_config(tmp_path, None)
        assert "\n" not in str(caught.value)


def test_the_class_is_found_from_inside(rooms: Rooms, tmp_path: Path) -> None:
    assert tilewise("init", tmp_path / "gpu2026").exit_code == 0
    found = class_folder.find(None, tmp_path / "gpu2026" / "source" / ASSIGNMENT)
    assert found == tmp_path / "gpu2026"


def test_clean_removes_nothing_outside_the_clone() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "clean"], cwd=ROOT, capture_output=True, text=True, check=True,
        env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    removed = done.stdout.split()
    assert removed[:2] == ["rm", "-rf"]
    for name in removed[2:]:
        assert not Path(name).is_absolute()
        assert ".." not in Path(name).parts
