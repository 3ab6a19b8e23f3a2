"""The jail of a notebook's session: threads and files of its own, and nothing else."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graders.judge.jail import landlock
from graders.judge.jail.jail import Jail
from graders.judge.jail.probe import probe
from graders.judge.sandbox import folders

pytestmark = pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")


def inside(jail: Jail, work: Callable[[], object]) -> str:
    """What the work returns, or the kind of the error that it raises, in a jailed fork."""
    reading, writing = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            jail.settle(30, 1 << 30, parent, keep=[writing])
            jail.seal()
            try:
                said = str(work())
            except Exception as error:
                said = type(error).__name__
            os.write(writing, json.dumps(said).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said = json.loads(file.read() or b'"ended"')
    os.waitpid(pid, 0)
    return str(said)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not pytest's own, which no other user may enter."""
    with folders.folder() as made:
        made.chmod(0o755)
        (made / "own").mkdir()
        (made / "own").chmod(0o777)
        (made / "outside").write_text("theirs")
        (made / "outside").chmod(0o666)
        yield made


@pytest.mark.parametrize("without", [(), ("user",)])
def test_everything_that_is_tried_is_stopped(folder: Path, without: tuple[str, ...]) -> None:
    (folder / "probe").mkdir()
    (folder / "probe").chmod(0o1777)
    (folder / "probe" / "secret").write_text("secret")
    probed = probe(
        Jail("session", scratch=folder / "own", without=without), folder / "probe/secret"
    )
    assert (probed.tier, probed.open_to) == ("A", ())


def _thread() -> str:
    import threading

    said: list[str] = []
    thread = threading.Thread(target=said.append, args=("ran",))
    thread.start()
    thread.join()
    return said[0]


def _socket_pair() -> str:
    import socket

    one, other = socket.socketpair()
    one.send(b"heard")
    return other.recv(10).decode()


def test_a_session_has_threads_and_files_of_its_own(folder: Path) -> None:
    jail = Jail("session", scratch=folder / "own")
    made = folder / "own" / "made"
    assert inside(jail, _thread) == "ran"
    assert inside(jail, _socket_pair) == "heard"
    assert inside(jail, lambda: made.write_text("text") and made.read_text()) == "text"


@pytest.mark.parametrize("without", [(), ("user",)])
def test_a_session_changes_nothing_outside(folder: Path, without: tuple[str, ...]) -> None:
    """Landlock does not guard modes and times; where the user is ours, only the filter does."""
    jail = Jail("session", scratch=folder / "own", without=without)
    outside = folder / "outside"
    before = outside.stat()
    denied: list[Callable[[], object]] = [
        outside.read_text,
        lambda: outside.write_text("mine"),
        lambda: os.truncate(outside, 0),
        outside.unlink,
        lambda: outside.rename(folder / "own" / "moved"),
        lambda: os.link(outside, folder / "own" / "linked"),
        lambda: (folder / "new").mkdir(),
        os.fork,
        lambda: os.setuid(0),
        lambda: os.execv(sys.executable, [sys.executable]),
    ]
    for attempt in denied:
        assert inside(jail, attempt) in ("PermissionError", "OSError")
    for harmless in (lambda: outside.chmod(0), lambda: os.utime(outside, (0, 0))):
        inside(jail, harmless)
    after = outside.stat()
    assert (after.st_mode, after.st_mtime, after.st_size) == (before.st_mode, before.st_mtime, 6)


def test_a_file_of_a_session_has_a_limit(folder: Path) -> None:
    jail = Jail("session", scratch=folder / "own")
    assert inside(jail, lambda: (folder / "own" / "large").write_bytes(bytes(32 << 20))) in (
        *("OSError", "ended"),
    )
    assert (folder / "own" / "large").stat().st_size <= 16 << 20
