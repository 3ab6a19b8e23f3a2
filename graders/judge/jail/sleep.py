"""How long a process has slept: it neither ran nor waited for a processor.

Kernels and launchers compute. A submission that sleeps is told in this way from one that the
machine gives no processor, which must never cost a point.
"""

from __future__ import annotations

import time

MOST_SECONDS = 5.0
# A watcher that itself was stopped, or had to wait, does not know what happened meanwhile.
LONGEST_LOOK = 0.1
_ASLEEP = "S"  # R may wait for a processor, D waits for a disk, T is stopped


class Sleep:
    """Counts how long a process sleeps, all naps together, from one look to the next."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.seconds = 0.0
        self._looked, self._used = time.monotonic(), _used(pid)

    def too_long(self, waits_for_us: bool = False) -> bool:
        """Look again; whether it has slept for too long. While it waits for the judge it may."""
        now, used = time.monotonic(), _used(self._pid)
        passed = min(now - self._looked, LONGEST_LOOK)
        if used is not None and self._used is not None and not waits_for_us:
            asleep = passed - (used - self._used)
            if asleep > 0 and _state(self._pid) == _ASLEEP:
                self.seconds += asleep
        self._looked, self._used = now, used
        return self.seconds > MOST_SECONDS


def _used(pid: int) -> float | None:
    """Seconds for which a process has run or waited for a processor; None if nobody counts."""
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
