"""A lock on the GPU of this machine: shared by those that check, exclusive to one that times.

Everybody takes a turn before the lock itself: who waits to have the GPU alone keeps it, so that
nobody who comes later goes first.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

LOCK = Path(tempfile.gettempdir()) / f"tilewise-gpu-{os.getuid()}.lock"


@contextlib.contextmanager
def hold_gpu(exclusive: bool) -> Iterator[None]:
    """Wait for the lock that all judges of this user on this machine share, and hold it.

    exclusive: nobody else may run meanwhile, because something is being timed. The system frees
    the lock of a process that dies.
    """
    descriptor = _open(LOCK)
    try:
        with _turn(LOCK):
            fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def shared_at_once(lock: Path) -> int | None:
    """A descriptor that holds the shared lock until it is closed; None where one had to wait.

    lock: `LOCK` of the judge. A warm process has another directory for what is temporary.
    """
    descriptor = _open(lock)
    try:
        with _turn(lock, fcntl.LOCK_NB):
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


@contextlib.contextmanager
def _turn(lock: Path, or_not: int = 0) -> Iterator[None]:
    descriptor = _open(lock.with_suffix(".turn"))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | or_not)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
