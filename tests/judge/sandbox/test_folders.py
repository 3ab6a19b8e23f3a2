"""Temporary folders go when their process does, however it ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from graders.judge.sandbox import folders

OWNER = """
from graders.judge.compiling.gate import CompileWorker
from graders.judge.sandbox import folders
from graders.judge.sandbox.pool import Workers
import time
with Workers(), CompileWorker() as compiler:
    compiler.ptxas(80)
    print(folders.make(), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_lives_as_long_as_its_block(place: Path) -> None:
    with folders.folder() as made:
        (made / "some").mkdir()
        assert list(place.iterdir()) == [made]
    assert list(place.iterdir()) == []


def test_only_what_nobody_holds_is_swept(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale, foreign = place / f"{folders.PREFIX}1", place / "tilewise-other"
    stale.mkdir()
    foreign.mkdir()
    with folders.folder() as held:
        folders.sweep()
        assert {held, stale, foreign} == set(place.iterdir())  # the stale one may be just made
        monkeypatch.setattr(folders, "YOUNG_SECONDS", -1.0)
        folders.sweep()
        assert {held, foreign} == set(place.iterdir())


@pytest.mark.slow
def test_a_killed_judge_leaves_nothing_behind(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {**os.environ, "TMPDIR": str(place), "PYTHONPATH": os.pathsep.join(sys.path)}
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert owner.stdout is not None
        own = Path(owner.stdout.readline().strip())
        judge = psutil.Process(owner.pid)
        # The warm process and the compiler's, each with a fork that waits.
        wait_for(lambda: len(judge.children(recursive=True)) == 4)
        helpers = judge.children(recursive=True)
        assert len(list(place.iterdir())) == 3
    finally:
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
    _, alive = psutil.wait_procs(helpers, timeout=60)
    assert not alive
    wait_for(lambda: list(place.iterdir()) == [own])
    monkeypatch.setattr(folders, "YOUNG_SECONDS", -1.0)
    folders.sweep()
    assert list(place.iterdir()) == []


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
