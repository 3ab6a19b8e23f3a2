"""A lock on the GPU of this machine: shared by those that check, exclusive to one that times."""

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
    descriptor = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)
