"""The time limits of a submission: CPU time of the judge and its workers, and wall time."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from graders.judge.records import GraderError

# CPU time of the judge itself, to read, compare and explain. Honest submissions need 1 or 2 s.
JUDGE_SECONDS = 60.0
WORKER_SECONDS = 480.0  # CPU time in jailed workers; passing submissions need less
WAITING_SECONDS = 1800.0  # wall time; only an overloaded machine needs this long
_AGAIN_SECONDS = 5.0  # then the signal is repeated: the first exception may have been caught


class TooCostlyError(GraderError):
    """A submission makes the judge itself compute for far too long."""


@dataclass
class Deadline:
    """The time left to one submission: CPU seconds of its workers, and the latest end."""

    processor: float = field(default_factory=lambda: WORKER_SECONDS)
    ends: float = field(default_factory=lambda: time.monotonic() + WAITING_SECONDS)

    def wait(self, seconds: float) -> float:
        """Return how long the judge may wait, at most `seconds`; GraderError if time is over.

        A submission that only waits is ended much earlier, so the machine must be too slow.
        """
        left = min(seconds, self.ends - time.monotonic())
        if left <= 0:
            raise GraderError(
                f"the machine has too much to do: after {WAITING_SECONDS / 60:.0f} minutes the "
                "submission is not judged. Judge it again when the machine has less to do"
            )
        return left


@contextmanager
def limited() -> Iterator[None]:
    """Inside the block, raise TooCostlyError if this process uses too much CPU time.

    Only the main thread can be interrupted. In other threads only a submission's sizes are
    limited.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, _over)
    signal.setitimer(signal.ITIMER_PROF, JUDGE_SECONDS, _AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def not_counted() -> Iterator[None]:
    """Stop the limit inside the block, for work that serves all submissions."""
    left, again = signal.setitimer(signal.ITIMER_PROF, 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, left, again)


def _over(_signal: int, _frame: FrameType | None) -> None:
    raise TooCostlyError(
        f"Judging it takes more than {JUDGE_SECONDS:.0f} seconds of the judge's own processor time"
    )
