"""Measures how long a process has slept, that is, neither run nor waited for a CPU.

Kernels and launchers compute and do not sleep. This distinguishes a submission that sleeps from
one that gets no CPU from the machine, which must not cost points.
"""

from __future__ import annotations

import time

MOST_SECONDS = 5.0
# If the watcher itself had to wait longer, it does not know what happened meanwhile.
LONGEST_LOOK = 0.1
_ASLEEP = "S"  # R may wait for a CPU, D waits for a disk, T is stopped


class Sleep:
    """Adds up how long a process sleeps, from one look to the next."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.seconds = 0.0
        self._looked, self._used = time.monotonic(), _used(pid)

    def too_long(self, waits_for_us: bool = False) -> bool:
        """Look again; return whether it has slept too long. Waiting for the judge is allowed."""
        now, used = time.monotonic(), _used(self._pid)
        passed = min(now - self._looked, LONGEST_LOOK)
        if used is not None and self._used is not None and not waits_for_us:
            asleep = passed - (used - self._used)
            if asleep > 0 and _state(self._pid) == _ASLEEP:
                self.seconds += asleep
        self._looked, self._used = now, used
        return self.seconds > MOST_SECONDS


def _used(pid: int) -> float | None:
    """Return how many seconds a process has run or waited for a CPU; None if unknown."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            ran, waited, _ = file.read().split()
    except (OSError, ValueError):
        return None
    return (int(ran) + int(waited)) / 1e9


def _state(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""
