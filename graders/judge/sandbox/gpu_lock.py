"""A lock on this machine's GPU: shared by processes that check, exclusive to one that times.

A second lock, the *turn*, makes it fair. A process that waits for the GPU holds the turn until it
has the GPU's lock. So later processes cannot overtake one that waits for exclusive use.
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
    """Wait for the GPU's lock, and hold it. All judges of this user on this machine share it.

    exclusive: no other process may use the GPU meanwhile, because this one is timing. If the
    process dies, the system frees its lock.
    """
    descriptor = _open(LOCK)
    try:
        with _turn(LOCK):
            fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def shared_at_once(lock: Path) -> int | None:
    """Take the shared lock without waiting; return its descriptor, or None if it is taken.

    Closing the descriptor frees the lock. `lock` is the judge's `LOCK`: a warm process would
    compute a different path, because it has its own temporary directory.
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
def _turn(lock: Path, not_waiting: int = 0) -> Iterator[None]:
    descriptor = _open(lock.with_suffix(".turn"))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | not_waiting)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
