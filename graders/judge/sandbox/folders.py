"""Makes temporary directories that are removed even if their process is killed.

A folder is locked while its owner lives. A killed owner leaves an unlocked folder, and the next
process that makes a folder removes it.
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
YOUNG_SECONDS = 60.0  # a new folder may be unlocked for a moment
_locks: dict[Path, int] = {}  # folders of this process → descriptor that holds the lock


def make() -> Path:
    """Return a new empty folder; call `remove`, or a later process removes it."""
    if not _locks:
        sweep()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    _locks[folder] = lock
    return folder


def remove(folder: Path) -> None:
    """Remove a folder of this process with its contents."""
    shutil.rmtree(folder, ignore_errors=True)
    lock = _locks.pop(folder, None)
    if lock is not None:
        os.close(lock)


def remove_all() -> None:
    """Remove every folder of this process, before it exits without cleanup."""
    for folder in list(_locks):
        remove(folder)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Make a folder that exists for the length of a `with` block."""
    made = make()
    try:
        yield made
    finally:
        remove(made)


def sweep() -> None:
    """Remove the folders of this user's killed processes."""
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
