"""What a learner installs holds the judge and the public exercises, and no hidden case.

Parts of model solutions are in the puzzles, whose file is compressed: nobody meets them while
searching a folder, and `practice()` shows them once the exercise is passed.

Built here; with TILEWISE_DIST, as in `make release`, the files of that folder are looked at.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one wheel and one source distribution."""
    if "TILEWISE_DIST" in os.environ:
        return ROOT / os.environ["TILEWISE_DIST"]
    folder = tmp_path_factory.mktemp("dist")
    kinds = ("-t", "sdist", "-t", "wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *kinds, "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> zipfile.ZipFile:
    (wheel,) = dist.glob("*.whl")
    return zipfile.ZipFile(wheel)


@pytest.fixture(scope="module")
def wheel_files(wheel: zipfile.ZipFile) -> list[str]:
    return wheel.namelist()


@pytest.fixture(scope="module")
def sdist_files(dist: Path) -> list[str]:
    """Without the folder that all of them stand in."""
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


@pytest.mark.parametrize(
    "room",
    [
        "solutions/",
        "graders/authoring/",
        "graders/grading/",
        "graders/service/",
        "tests/",
    ],
)
def test_no_answer_reaches_a_learner(
    wheel_files: list[str], sdist_files: list[str], room: str
) -> None:
    leaked = [name for name in (*wheel_files, *sdist_files) if name.startswith(room)]
    assert not leaked, f"the learner's distribution holds {leaked}: exclude it in pyproject.toml"


def test_wheel_and_source_hold_the_same_code(
    wheel_files: list[str], sdist_files: list[str]
) -> None:
    rooms = ("triton_util/", "graders/")
    code = [{n for n in names if n.startswith(rooms)} for names in (wheel_files, sdist_files)]
    assert code[0] == code[1]
    assert {"README.md", "LICENSE", "LICENSE-lessons"} <= set(sdist_files)


def test_the_wheel_says_what_pyproject_says(wheel: zipfile.ZipFile) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (name,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
    said = Parser().parsestr(wheel.read(name).decode())
    assert said["Version"] == project["version"]
    assert said["License-Expression"] == project["license"]
    (name,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert "tilewise = graders.cli.main:main" in wheel.read(name).decode()


@pytest.mark.parametrize(
    "file",
    [
        "triton_util/__init__.py",
        "triton_util/interpreter/__init__.py",
        "triton_util/puzzles/items.json.gz",
        "triton_util/model_solutions.json.gz",
        "graders/judge/serve.py",
        "graders/course/vector_add/exercise.py",
        "graders/cli/main.py",
    ],
)
def test_everything_to_learn_with_is_there(wheel_files: list[str], file: str) -> None:
    assert file in wheel_files, f"{file} is missing from the learner's distribution"
