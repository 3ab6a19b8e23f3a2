"""Warm processes that a command starts while it imports torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graders.judge.compiling.process import CompileWorker
from graders.judge.records import GraderError
from graders.judge.sandbox import starting
from graders.judge.sandbox.pool import Workers
from tests.support.plans import constant


def waiting() -> list[starting.Started]:
    return list(starting._waiting.values())


def test_what_was_started_ahead_is_taken_and_works() -> None:
    with starting.ahead(gpu=False):
        pids = {started.process.pid for started in waiting()}
        assert len(pids) == 2
        with Workers() as workers, CompileWorker() as compiler:
            compiler.ptxas(90)
            assert {workers.pid, compiler.pid} == pids
            assert waiting() == []
            assert workers.tier == "A"
            assert [outcome.status for outcome in workers.run([constant()])] == ["returned"]


def test_others_than_those_started_ahead_start_afresh() -> None:
    with starting.ahead(gpu=False):
        pids = {started.process.pid for started in waiting()}
        with Workers(without=["seccomp"]) as workers:
            assert workers.pid not in pids
        assert len(waiting()) == 2


def test_what_nobody_takes_ends_and_leaves_no_folder() -> None:
    with starting.ahead(gpu=False):
        left = waiting()
        assert all(started.directory.exists() for started in left)
    assert waiting() == []
    assert all(started.process.poll() is not None for started in left)
    assert not any(started.directory.exists() for started in left)


def test_without_a_python_nothing_starts_and_the_judge_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with starting.ahead(gpu=False):
        assert waiting() == []
        with pytest.raises(GraderError, match="warm process does not start"), Workers():
            pass


def test_a_command_starts_its_processes_before_it_imports_torch(tmp_path: Path) -> None:
    """Torch's import is made to fail: by then the processes must be there."""
    (tmp_path / "torch.py").write_text(
        "from graders.judge.sandbox import starting\n"
        "raise SystemExit(f'{len(starting._waiting)} were started')\n"
    )
    (tmp_path / "work.py").write_text("def of_no_exercise(): pass\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        f"sys.argv = ['tilewise', 'check', {str(tmp_path / 'work.py')!r}]\n"
        "from graders.cli.main import main; main()"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert said.stderr.strip().endswith("2 were started")


def test_without_a_driver_there_is_no_capability(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(starting.ctypes, "CDLL", missing)
    assert starting._capability_of_driver() is None
