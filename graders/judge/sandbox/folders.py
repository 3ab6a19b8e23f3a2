"""Temporary directories that do not stay behind, whatever ends their process.

A folder is locked as long as its owner lives. An owner that was killed leaves a folder without
a lock, and the next process that makes one removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX = "tilewise-run-"
YOUNG_SECONDS = 60.0  # a folder may be there for a moment before it is locked
_locks: dict[Path, int] = {}  # folders of this process → descriptor that holds the lock


def make() -> Path:
    """A new empty folder; `remove` it, or leave that to whoever comes next."""
    if not _locks:
        sweep()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    _locks[folder] = lock
    return folder


def remove(folder: Path) -> None:
    """Remove a folder of this process with all that is in it."""
    shutil.rmtree(folder, ignore_errors=True)
    lock = _locks.pop(folder, None)
    if lock is not None:
        os.close(lock)


def remove_all() -> None:
    """Remove every folder of this process: before it ends at once."""
    for folder in list(_locks):
        remove(folder)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder for the length of a `with` block."""
    made = make()
    try:
        yield made
    finally:
        remove(made)


def sweep() -> None:
    """Remove the folders of processes that were killed, as far as they are this user's."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            found = path.lstat()
            if found.st_uid == os.getuid() and time.time() - found.st_mtime > YOUNG_SECONDS:
                _remove_unlocked(path)


def _remove_unlocked(path: Path) -> None:
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError: its owner lives
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)
