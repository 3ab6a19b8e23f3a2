"""Keeping freed memory in the process: blocks of a launch come and go a hundred times a second.

The C library of Linux gives every freed block of more than 128 KiB back to the system, and takes
it anew for the next one.  The system then clears it page by page, which takes longer than the
arithmetic: `vector_add` of a million elements needs half the time where memory is kept
(`benchmarks/interpreter.py`).  See mallopt(3) for the two limits.
"""

from __future__ import annotations

import ctypes
import functools

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
# The largest block that may be kept (the C library allows no more), and how much in all.
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
