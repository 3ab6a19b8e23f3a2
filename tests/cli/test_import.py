"""`tilewise autograde --from`: what is left out is listed, by name, and is exit code 2."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from graders.cli import autograde as command
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse, make

ROSTER = """\
id,first_name,last_name,email,lms_user_id
ada,Ada,Lovelace,,1815
jürgen,Jürgen,王,,7
"""


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    monkeypatch.setattr(command.fork_server, "start", lambda: None)
    monkeypatch.setattr(command, "_judging", lambda *_: FakeJudging())
    made = make(tmp_path)
    (made.folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return made


def run(course: SmallCourse, files: dict[str, str], *options: str) -> tuple[int, str]:
    place = course.folder.parent / "lms.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    arguments = [ASSIGNMENT, "--course", str(course.folder), "--from", str(place), *options]
    done = CliRunner().invoke(command.autograde, arguments)
    return done.exit_code, done.output


def test_the_platform_is_named_and_what_is_left_out_is_listed(course: SmallCourse) -> None:
    files = {
        "lovelaceada_1815_5_x.ipynb": course.released.read_text().replace(
            "# YOUR CODE", "right = 1 #"
        ),
        "lovelaceada_7_6_x.ipynb": "whose?",
        "王jürgen_7_8_x.html": "<p>",
    }
    code, said = run(course, files, "--lms", "canvas")
    assert code == 2
    assert "1 submissions from" in said
    assert (
        "left out: 'lovelaceada_7_6_x.ipynb': the Canvas number 7 is Jürgen 王 (jürgen), and the "
        "name 'lovelaceada' is Ada Lovelace (ada)"
    ) in said
    assert "left out: '王jürgen_7_8_x.html': 'x.html' is a page to read" in said
    del files["lovelaceada_7_6_x.ipynb"], files["王jürgen_7_8_x.html"]
    assert run(course, files, "--lms", "canvas")[0] == 0


def test_a_platform_that_was_not_named_is_no_class_without_work(course: SmallCourse) -> None:
    code, said = run(course, {"lovelaceada_1815_5_x.ipynb": "1"})
    assert code == 2
    assert "0 submissions from" in said
    assert "name the platform that packed it" in said
