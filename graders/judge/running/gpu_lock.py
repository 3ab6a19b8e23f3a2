"""Who may use the GPU of this machine now: many that check, or one that times."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

LOCK = Path(tempfile.gettempdir()) / f"tilewise-gpu-{os.getuid()}.lock"


@contextlib.contextmanager
def turn(alone: bool) -> Iterator[None]:
    """Wait for a turn on the GPU, among all judges of this user on this machine.

    alone: whether nobody else may run meanwhile, because something is being timed. A lock that
    is held by a process that dies is free.
    """
    descriptor = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)
