"""Keep freed memory in the process: the blocks of a launch are freed a hundred times a second.

The C library of Linux returns every freed block of more than 128 KiB to the system, and requests
it again for the next one.  The system then clears it page by page, which takes longer than the
arithmetic: `vector_add` of a million elements needs half the time if memory is kept
(`benchmarks/interpreter.py`).  See mallopt(3) for the two limits.
"""

from __future__ import annotations

import ctypes
import functools

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
# The largest block that is kept (the maximum that the C library allows); the total is below.
LARGEST_KEPT_BYTES = 32 << 20
MOST_KEPT_BYTES = 128 << 20


@functools.cache
def keep_freed_memory() -> None:
    """Let this process keep up to 128 MiB that it has freed; does nothing without glibc."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # macOS, musl, Windows
        return
    mallopt(_M_MMAP_THRESHOLD, LARGEST_KEPT_BYTES)
    mallopt(_M_TRIM_THRESHOLD, MOST_KEPT_BYTES)
