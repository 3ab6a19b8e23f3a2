"""What a learner installs holds the judge and the public exercises, and no answer."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


@pytest.mark.parametrize(
    "room", ["solutions/", "graders/hidden/", "graders/authoring/", "graders/grading/", "tests/"]
)
def test_no_answer_reaches_a_learner(wheel_files: list[str], room: str) -> None:
    leaked = [name for name in wheel_files if name.startswith(room)]
    assert not leaked, f"the learner's distribution holds {leaked}: exclude it in pyproject.toml"


@pytest.mark.parametrize(
    "file",
    [
        "triton_util/__init__.py",
        "triton_util/interpreter/__init__.py",
        "graders/judge/serve.py",
        "graders/exercises/vector_add.py",
        "graders/cli/main.py",
    ],
)
def test_everything_to_learn_with_is_there(wheel_files: list[str], file: str) -> None:
    assert file in wheel_files, f"{file} is missing from the learner's distribution"
