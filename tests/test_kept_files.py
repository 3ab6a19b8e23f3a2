"""Which test files are left out because they passed before, and when they run again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import kept_files, kept_verdicts
from tests.support.kept_files import TestFile

HERE = kept_verdicts.libraries()


@pytest.fixture
def tree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A repository of one test file, a module that it imports and a folder that it reads."""
    root = tmp_path / "repository"
    for name, text in {
        "tests/conftest.py": "",
        "tests/test_one.py": (
            "import pytest\nimport triton_util.adding\n"
            'pytestmark = pytest.mark.kept(folders=("lessons",))\n'
        ),
        "tests/test_other.py": "",
        "triton_util/adding.py": "def add(x, y):\n    return x + y\n",
        "triton_util/unused.py": "",
        "lessons/01.txt": "one",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setattr(kept_files, "ROOT", root)
    monkeypatch.setattr(kept_files, "FILE", root / "kept.json")
    monkeypatch.setattr(kept_files, "NOTED", root / "noted.json")
    monkeypatch.setattr(kept_files, "seed", lambda: "a commit that draws no file")
    monkeypatch.delenv(kept_verdicts.MODE, raising=False)
    yield root
    forget()


def forget() -> None:
    for remembered in (kept_files.kept, kept_files.marked, kept_files.key_of):
        remembered.cache_clear()


def left_out(tree: Path) -> list[str]:
    """As in a process that has just started."""
    forget()
    return kept_files.left_out()


def keep(tree: Path) -> None:
    forget()
    keys = {name: file.key for name, file in kept_files.marked().items()}
    (tree / "kept.json").write_text(json.dumps({HERE: keys}))


def test_what_passed_is_left_out_until_something_changes(tree: Path) -> None:
    assert left_out(tree) == []
    keep(tree)
    assert left_out(tree) == ["tests/test_one.py"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tests/test_one.py", "import triton_util.adding\npytest.mark.kept(folders=('lessons',))"),
        ("tests/conftest.py", "import os\n"),
        ("triton_util/adding.py", "def add(x, y):\n    return x - y\n"),
        ("lessons/01.txt", "two"),
        ("lessons/02.txt", ""),
    ],
)
def test_it_runs_again_when_what_it_needs_has_changed(tree: Path, name: str, text: str) -> None:
    keep(tree)
    (tree / name).write_text(text)
    assert left_out(tree) == []


def test_what_it_does_not_need_may_change(tree: Path) -> None:
    keep(tree)
    (tree / "triton_util/unused.py").write_text("x = 1\n")
    (tree / "tests/test_other.py").write_text("x = 1\n")
    assert left_out(tree) == ["tests/test_one.py"]


def test_nightly_forgets(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tree)
    monkeypatch.setenv(kept_verdicts.MODE, "all")
    assert left_out(tree) == []


def test_other_versions_of_triton_and_torch_have_keys_of_their_own(tree: Path) -> None:
    keep(tree)
    text = (tree / "kept.json").read_text()
    (tree / "kept.json").write_text(text.replace(HERE, "triton 3.0.0, torch 2.4"))
    assert left_out(tree) == []


def test_each_file_runs_with_some_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    file, drawn = TestFile("tests/test_one.py"), []
    for commit in range(80):
        monkeypatch.setattr(kept_files, "seed", lambda commit=commit: str(commit))
        drawn.append(file.sampled)
    assert 1 <= sum(drawn) <= 80 // 3


def test_what_passed_is_noted_for_make_verdicts(tree: Path) -> None:
    left_out(tree)
    kept_files.note(["tests/test_one.py", "tests/test_other.py"])
    assert json.loads((tree / "noted.json").read_text()) == {
        HERE: {"tests/test_one.py": kept_files.marked()["tests/test_one.py"].key}
    }
    assert kept_files.main([]) == 0  # nothing runs: it is noted
    assert left_out(tree) == ["tests/test_one.py"]


def test_only_files_within_a_place_run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    assert kept_files.main(["-x"], within=["tests/elsewhere"]) == 0
    assert not asked
    kept_files.main(["-x"], within=["tests"])
    assert [command[-2:] for command in asked] == [["-x", "tests/test_one.py"]]


def test_every_marker_names_folders_that_are_there() -> None:
    found = kept_files.marked()
    assert len(found) > 10
    for file in found.values():
        assert file.key
