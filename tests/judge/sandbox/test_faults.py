"""A broken machine is a GraderError with one clear line and the mend, never a learner's zero."""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from graders.judge.records import GraderError
from graders.judge.sandbox import warm
from graders.judge.sandbox.pool import Workers
from tests.support.plans import constant

JOB = constant()


def python_without(module: str, directory: Path) -> str:
    """A Python that has everything but `module`."""
    blocker = directory / "blocker.py"
    blocker.write_text(
        "import importlib.abc, runpy, sys\n"
        "class Blocker(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Blocker())\n"
        "sys.argv = sys.argv[2:]\n"  # what is left: the script and its configuration
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    return script(directory, f'exec {sys.executable} -I {blocker} "$@"')


def script(directory: Path, line: str) -> str:
    path = directory / "python"
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(stat.S_IRWXU)
    return str(path)


def start_error(monkeypatch: pytest.MonkeyPatch, executable: str) -> str:
    monkeypatch.setattr(sys, "executable", executable)
    with pytest.raises(GraderError) as caught, Workers():
        pass
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("module", "mend"),
    [
        ("triton", "pip install triton"),
        ("numpy", "pip install numpy"),
        ("torch", "pip install torch"),
        ("triton_util.interpreter", "tilewise doctor"),
    ],
)
def test_a_missing_module_is_named_with_the_mend(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: str, mend: str
) -> None:
    message = start_error(monkeypatch, python_without(module, tmp_path))
    assert f"No module named {module!r}" in message
    assert mend in message


def test_a_missing_libseccomp_lowers_the_tier_and_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", python_without("pyseccomp", tmp_path))
    with Workers() as workers:
        assert workers.tier == "B"
        assert "pyseccomp" in workers.layers["seccomp"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("exit 3", "without a word"),
        ("echo cannot load libpython >&2; exit 1", "cannot load libpython"),
        ("kill -SEGV $$", "without a word"),
    ],
)
def test_a_python_that_does_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str, words: str
) -> None:
    assert words in start_error(monkeypatch, script(tmp_path, line))


def test_no_python_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "No such file" in start_error(monkeypatch, str(tmp_path / "nothing"))


def test_a_python_that_never_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(warm, "START_SECONDS", 0.2)
    assert "not ready" in start_error(monkeypatch, script(tmp_path, "exec sleep 60"))


def test_no_room_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    assert "No space left" in start_error(monkeypatch, sys.executable)


def test_refused_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    with Workers() as workers:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "memfd_create", refuse)
            with pytest.raises(GraderError, match="shared memory"):
                workers.run([JOB])
        assert workers.run([JOB])[0].status == "returned"
    monkeypatch.setattr(os, "memfd_create", refuse)
    assert "Operation not permitted" in start_error(monkeypatch, sys.executable)


def test_a_failed_start_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    before = set(os.listdir("/proc/self/fd"))
    start_error(monkeypatch, script(tmp_path, "exit 1"))
    assert list(temporary.iterdir()) == []
    assert set(os.listdir("/proc/self/fd")) == before


def test_many_batches_leave_nothing_behind() -> None:
    with Workers() as workers:
        workers.run([JOB])
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            workers.run([JOB, JOB])
        assert len(os.listdir("/proc/self/fd")) == before
