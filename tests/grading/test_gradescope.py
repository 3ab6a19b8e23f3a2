"""The autograder for Gradescope, in its file layout below a temporary folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from graders.authoring.rooms import Rooms, find_root
from graders.cli.gradescope import gradescope
from graders.grading.gradescope import run
from graders.grading.gradescope.packing import AutograderSettings, pack, settings_of
from graders.grading.marks import Marks
from tests.support.paths import correct, wrong
from tests.support.small_course import fake_marks

ROOMS = Rooms(find_root(Path(__file__)))
METADATA = {  # of gradescope-autograders.readthedocs.io/en/latest/submission_metadata
    "id": 123456,
    "created_at": "2018-07-01T14:22:32.365935-07:00",
    "assignment": {"id": 25828, "title": "Vector addition", "total_points": "20.0"},
    "users": [{"email": "a@x.org", "id": 1, "name": "Ada"}, {"id": 2, "name": "Kurt Gödel"}],
    "previous_submissions": [],
}


class FakeMarker:
    """Judges by a word in the file."""

    def __init__(self) -> None:
        self.paths: list[Path] = []

    def __enter__(self) -> FakeMarker:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def mark(self, path: Path, exercise: str) -> Marks:
        self.paths.append(path)
        return fake_marks(path.read_text())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """/autograder, as Gradescope makes it from the zip and a submission."""
    for name in ("source", "submission", "results"):
        (tmp_path / name).mkdir()
    (tmp_path / "submission_metadata.json").write_text(json.dumps(METADATA))
    (tmp_path / "source" / "tilewise.json").write_text(
        json.dumps({"assignment": "01_vector_add", "exercises": ["vector_add"], "by_hand": ["c"]})
    )
    return tmp_path


def results(
    root: Path, monkeypatch: pytest.MonkeyPatch, marker: Callable[[], Any] = FakeMarker
) -> dict[str, Any]:
    monkeypatch.setattr(run, "official_marker", marker)
    monkeypatch.setattr(sys, "argv", ["run", str(root)])
    run.main()
    found: dict[str, Any] = json.loads((root / "results" / "results.json").read_text())
    assert found.pop("execution_time") >= 0
    assert found["stdout_visibility"] == "hidden"
    return found


def scores(found: dict[str, Any]) -> list[Any]:
    return [found.get("score"), *(test.get("score") for test in found.get("tests", ()))]


def test_partial_credit_and_messages(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "submission" / "kernels.py").write_text("wrong = 1")
    found = results(root, monkeypatch)
    public, hidden = found["tests"]
    assert (public["score"], public["max_score"], public["visibility"]) == (0, 4, "visible")
    assert (hidden["score"], hidden["max_score"]) == (0, 6)
    assert hidden["visibility"] == "after_published"
    assert "It reads outside." in public["output"]
    assert "Next: Mask." in public["output"]
    assert found["output"] == "Graded by hand, later: c"
    assert capsys.readouterr().out.startswith("Ada, Kurt Gödel: 0 points")


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("kernels.py", "broken = 1", "vector_add: the disk is full"),
        ("answer.pdf", "%PDF", "'answer.pdf' is a page to read, not a notebook"),
    ],
)
def test_what_could_not_be_judged_has_no_score(
    root: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str, why: str
) -> None:
    (root / "submission" / file).write_text(text)
    found = results(root, monkeypatch)
    assert set(scores(found)) == {None}
    assert not any("max_score" in test for test in found.get("tests", ()))
    assert why in found["output"]
    assert "This is not a zero" in found["output"]


def test_one_exercise_that_could_not_be_judged_takes_all_scores_away(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "submission" / "kernels.py").write_text("right = 1")

    class Half(FakeMarker):
        def mark(self, path: Path, exercise: str) -> Marks:
            return fake_marks("broken = 1" if exercise == "relu" else "right = 1")

    settings = {"assignment": "01_vector_add", "exercises": ["vector_add", "relu"]}
    (root / "source" / "tilewise.json").write_text(json.dumps(settings))
    found = results(root, monkeypatch, Half)
    assert scores(found) == [None] * 5
    assert "4 of 4 points" in found["tests"][0]["output"]


def fails() -> Any:
    raise MemoryError


@pytest.mark.parametrize("damage", ["settings", "judge"])
def test_a_fault_of_ours_is_no_zero(
    root: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    (root / "submission" / "kernels.py").write_text("right = 1")
    if damage == "settings":
        (root / "source" / "tilewise.json").write_text("{")
    found = results(root, monkeypatch, fails if damage == "judge" else FakeMarker)
    assert scores(found) == [None]
    assert "The judge itself failed" in found["output"]


def test_a_folder_around_and_a_link(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "submission" / "work").mkdir()
    (root / "submission" / "work" / "mine.py").write_text("right = 1")
    (root / "submission" / "hidden.py").symlink_to(root / "source" / "tilewise.json")
    assert scores(results(root, monkeypatch)) == [None, 4, 6]


def test_the_zip_has_what_gradescope_asks_for(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        gradescope, ["vector_add", "--to", str(tmp_path / "a.zip"), "--hidden", "hidden"]
    )
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        names = set(archive.namelist())
        for name in ("setup.sh", "run_autograder"):
            assert archive.getinfo(name).external_attr >> 16 == 0o755
            text = archive.read(name).decode()
            assert text.startswith("#!/usr/bin/env bash\n")
            checked = subprocess.run(["bash", "-n"], input=text, text=True, check=False)
            assert checked.returncode == 0
        assert AutograderSettings(**json.loads(archive.read("tilewise.json"))).hidden == "hidden"
        assert archive.read("torch.txt").decode().startswith("torch==")
    assert "tilewise/graders/course/vector_add/hidden.py" in names
    assert not [name for name in names if "__pycache__" in name]


def test_an_unknown_lesson_is_named() -> None:
    done = CliRunner().invoke(gradescope, ["99_nothing"])
    assert done.exit_code == 1
    assert "there is no lesson '99_nothing'" in done.output


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The layout with the real zip; `venv` stands for what setup.sh installs."""
    root = tmp_path_factory.mktemp("autograder")
    settings = settings_of(ROOMS, "01_vector_add", "after_published", unsandboxed=True)
    pack(ROOMS, settings, root / "a.zip")
    with zipfile.ZipFile(root / "a.zip") as archive:
        archive.extractall(root / "source")
    python = root / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    shutil.copy(root / "source" / "run_autograder", root / "run_autograder")
    (root / "run_autograder").chmod(0o755)
    (root / "submission_metadata.json").write_text(json.dumps(METADATA))
    return root


def run_autograder(root: Path, code: str) -> dict[str, Any]:
    shutil.rmtree(root / "submission", ignore_errors=True)
    (root / "submission").mkdir()
    (root / "submission" / "kernels.py").write_text(code)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [str(root / "run_autograder"), str(root)], cwd=root, env=environment,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((root / "results" / "results.json").read_text())
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "points"),
    [(correct("vector_add", "careful_launcher"), [4, 6]),
     (wrong("vector_add", "missing_mask"), [0, 0])],
)  # fmt: skip
def test_the_real_judge_in_the_layout(unpacked: Path, code: str, points: list[float]) -> None:
    found = run_autograder(unpacked, code)
    assert [test["score"] for test in found["tests"]] == points, found
    assert ("missing-mask" in found["tests"][0]["output"]) == (points == [0, 0])


@pytest.mark.slow
def test_a_judge_that_is_killed_leaves_no_score(unpacked: Path) -> None:
    python = unpacked / "venv" / "bin" / "python"
    usual = python.read_text()
    python.write_text("#!/bin/sh\nkill -9 $$\n")
    found = run_autograder(unpacked, "x = 1")
    python.write_text(usual)
    assert scores(found) == [None]
    assert "not a zero" in found["output"]
