"""`kill -9` of the whole command, with its real judges: nothing lost, nothing left behind."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from nbgrader.api import Gradebook

from graders.judge.sandbox import folders
from tests.support.paths import correct, wrong
from tests.support.small_course import ASSIGNMENT, SmallCourse, make

pytestmark = pytest.mark.slow
KERNELS = correct("vector_add", "careful_launcher"), wrong("vector_add", "missing_mask")
SECONDS = 240.0  # for what takes a few on a quiet machine


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    course = make(tmp_path_factory.mktemp("course"))
    for number in range(4):
        course.hand_in(f"s{number}", f"{KERNELS[number % 2]}\n# {number}\n")
    return course


@pytest.fixture
def place() -> Iterator[Path]:
    """For temporary files; its path is short, because sockets are in it."""
    folder = Path(tempfile.mkdtemp(prefix="tw-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


class Command:
    """`tilewise autograde` in a process of its own; its temporary files lie in `place`."""

    def __init__(self, course: Path, place: Path) -> None:
        self.place = place
        options = ("--course", str(course), "--workers", "2")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "graders.cli.main", "autograde", ASSIGNMENT, *options],
            env={**os.environ, "TMPDIR": str(place), "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait(self) -> str:
        output, _ = self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == 0, output
        return output

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate(timeout=SECONDS)

    def left(self) -> list[str]:
        """The command lines of processes that belong to it."""
        return [line for process in psutil.process_iter() if (line := self._ours(process))]

    def _ours(self, process: psutil.Process) -> str:
        try:
            line = " ".join(process.cmdline())
            home = process.environ().get("TMPDIR", "")
        except psutil.Error:
            return ""
        return (
            line if str(self.place) in (home, *line.split('"')) or str(self.place) in line else ""
        )


def scores(course: Path) -> list[tuple[str, str, float | None]]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return sorted(
            (submission.student.id, grade.name, grade.auto_score)
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
            for notebook in submission.notebooks
            for grade in notebook.grades
        )


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_command_killed_again_and_again_ends_with_the_same_gradebook(
    template: SmallCourse, tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed, course = tmp_path / "calm", tmp_path / "course"
    shutil.copytree(template.folder, undisturbed)
    shutil.copytree(template.folder, course)
    Command(undisturbed, place).wait()
    assert list(place.iterdir()) == []

    def marks() -> int:
        return len(list((course / ".tilewise" / "marks").glob("*/*.json")))

    moments = random.Random(4)
    for wanted in (0, 1, 2):
        command = Command(course, place)
        until(lambda: len(command.left()) >= 3)  # noqa: B023 - called at once
        until(lambda: marks() >= wanted)  # noqa: B023
        time.sleep(moments.random())
        command.kill()
        until(lambda: not command.left())  # noqa: B023
    assert "4 submissions" in Command(course, place).wait()
    assert scores(course) == scores(undisturbed)
    assert len(scores(course)) == 12
    monkeypatch.setattr("tempfile.tempdir", str(place))
    monkeypatch.setattr(folders, "YOUNG_SECONDS", -1.0)
    folders.sweep()
    assert list(place.iterdir()) == []
