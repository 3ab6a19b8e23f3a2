"""What ptxas may do while it works on PTX that a submission's process has sent."""

import os
import subprocess
from pathlib import Path

import pytest

from graders.judge.jail import landlock
from graders.judge.jail.confine import confined

pytestmark = pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")


def _shell(command: str, folder: Path) -> tuple[int, str]:
    def run() -> tuple[int, str]:
        done = subprocess.run(
            ["/bin/sh", "-c", command], capture_output=True, text=True, cwd=folder, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return confined(run, programs=[], folder=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("the model solution")
    inside = tmp_path / "inside"
    inside.mkdir()
    return inside


def test_it_works_in_its_folder(folder: Path) -> None:
    assert _shell("echo made > out && cat out", folder) == (0, "made\n")


@pytest.mark.parametrize(
    "command",
    ["cat ../secret.txt", "echo x > ../out", "rm ../secret.txt", "mv ../secret.txt .", "ls /root"],
)
def test_it_reaches_nothing_else(folder: Path, command: str) -> None:
    code, said = _shell(command, folder)
    assert code != 0
    assert "solution" not in said
    assert [path.name for path in folder.parent.iterdir() if path.is_file()] == ["secret.txt"]


@pytest.mark.skipif(landlock.abi() < 6, reason="Landlock holds signals back from version 6 on")
def test_it_sends_us_no_signal(folder: Path) -> None:
    code, said = _shell(f"kill -0 {os.getpid()}", folder)
    assert code != 0
    assert "not permitted" in said.lower()


def test_only_the_one_thread_is_bound(folder: Path) -> None:
    _shell("true", folder)
    assert (folder.parent / "secret.txt").read_text() == "the model solution"
    (folder.parent / "another.txt").write_text("still free")


def test_what_goes_wrong_is_raised_where_it_was_asked_for(folder: Path) -> None:
    with pytest.raises(PermissionError):
        confined((folder.parent / "secret.txt").read_text, programs=[], folder=folder)
