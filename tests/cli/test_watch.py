"""`tilewise watch`: one check for each save, and an end without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from graders.cli import watch as command
from graders.cli.watch import saves
from graders.judge.pipeline import Judge
from graders.judge.records import GraderError

ROOT = Path(__file__).parents[2]
RIGHT = ROOT / "solutions" / "tour.py"
SECONDS = 240.0  # on a machine that has too much to do


class Over(Exception):  # noqa: N818
    """The script of a test has come to its end."""


def scripted(*steps: Callable[[], object]) -> Callable[[float], None]:
    """A way to wait during which somebody edits the file: one step at each call."""
    left: Iterator[Callable[[], object]] = iter(steps)

    def wait(_: float) -> None:
        step = next(left, None)
        if step is None:
            raise Over
        step()

    return wait


def seen(path: Path, *steps: Callable[[], object]) -> list[str]:
    """What the file held whenever it was looked at."""
    found = []
    try:
        for _ in saves(path, scripted(*steps)):
            found.append(path.read_text())
    except Over:
        pass
    return found


def nothing() -> None:
    """Nobody touches the file."""


def test_what_is_there_is_looked_at_once(tmp_path: Path) -> None:
    path = tmp_path / "work.py"
    path.write_text("a")
    assert seen(path, *[nothing] * 6) == ["a"]


def test_each_save_is_looked_at_when_it_has_come_to_rest(tmp_path: Path) -> None:
    path = tmp_path / "work.py"
    path.write_text("a")

    def write(text: str) -> Callable[[], object]:
        return lambda: path.write_text(text)

    steps = [nothing, write("b, half"), write("b, halfway"), write("b"), *[nothing] * 3]
    assert seen(path, *steps, write("c c"), *[nothing] * 3) == ["a", "b", "c c"]


def test_a_save_that_changes_nothing_is_no_save(tmp_path: Path) -> None:
    path = tmp_path / "work.py"
    path.write_text("a")
    touched = [nothing, lambda: os.utime(path, (1, 1)), *[nothing] * 4]
    assert seen(path, *touched) == ["a"]


def test_a_file_that_is_replaced_may_be_gone_for_a_moment(tmp_path: Path) -> None:
    path, other = tmp_path / "work.py", tmp_path / "other.py"
    path.write_text("a")
    other.write_text("b")
    steps = [nothing, path.unlink, nothing, lambda: other.rename(path), *[nothing] * 3]
    assert seen(path, *steps) == ["a", "b"]


def test_a_wrong_name_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "work.py"
    missing = CliRunner().invoke(command.watch, [str(path)])
    assert missing.exit_code == 2
    path.write_text("")
    unknown = CliRunner().invoke(command.watch, [str(path), "softmaxx"])
    assert unknown.exit_code == 2
    assert "softmax" in unknown.output
    assert "Traceback" not in missing.output + unknown.output


def test_a_fault_of_the_machine_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "work.py"
    path.write_text("")

    def fails(self: Judge) -> None:
        raise GraderError("there is no sandbox here")

    monkeypatch.setattr(Judge, "warm", fails)
    done = CliRunner().invoke(command.watch, [str(path)])
    assert (done.exit_code, done.output) == (2, "Error: there is no sandbox here\n")


@pytest.mark.slow
def test_a_kernel_is_checked_at_each_save_until_somebody_ends_it(tmp_path: Path) -> None:
    path, log = tmp_path / "work.py", tmp_path / "log"
    path.write_text(RIGHT.read_text())
    # A run in the background ignores Ctrl+C, and what it starts would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    environ = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    with log.open("w") as out:
        watching = subprocess.Popen(
            [sys.executable, "-m", "graders.cli.main", "watch", str(path), "double"],
            env={**environ, "PYTHONPATH": str(ROOT)},
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_for(log, "Waiting", times=1)
        assert "PASSED" in log.read_text()
        path.write_text(RIGHT.read_text()[:-40] + "((")
        _wait_for(log, "Waiting", times=2)
        assert "FAILED" in log.read_text()
        watching.send_signal(signal.SIGINT)
        assert watching.wait(SECONDS) == 0
    finally:
        signal.signal(signal.SIGINT, before)
        watching.kill()
    told = log.read_text()
    assert "No longer watched." in told
    assert "Traceback" not in told


def _wait_for(log: Path, word: str, times: int) -> None:
    deadline = time.monotonic() + SECONDS
    while log.read_text().count(word) < times:
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.2)
