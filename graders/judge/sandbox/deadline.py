"""One deadline for a submission: of the judge's own processor time, its workers', and the clock."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from graders.judge.records import GraderError

# The judge's own: it reads, compares and explains. That takes honest submissions a second or two.
JUDGE_SECONDS = 60.0
WORKER_SECONDS = 480.0  # of the processor in jailed workers: more than what passes may take
WAITING_SECONDS = 1800.0  # by the clock; only a machine with too much to do needs as long
_AGAIN_SECONDS = 5.0  # after which the end is told again: something may have taken the first word


class TooCostlyError(GraderError):
    """What a submission makes the judge itself compute is out of all proportion."""


@dataclass
class Deadline:
    """What is left to one submission: processor seconds of its workers, and a time of the clock."""

    processor: float = field(default_factory=lambda: WORKER_SECONDS)
    ends: float = field(default_factory=lambda: time.monotonic() + WAITING_SECONDS)

    def wait(self, seconds: float) -> float:
        """How long the judge may wait, at most so many seconds; GraderError where no time is left.

        A submission that does not compute is ended long before. So it was the machine.
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
    """Inside, TooCostlyError comes where this process takes more of the processor than it may.

    Only the main thread can be interrupted. In another one the sizes of a submission are bounded,
    and the time is not.
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
    """What is done inside serves all submissions, and counts for none."""
    left, again = signal.setitimer(signal.ITIMER_PROF, 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, left, again)


def _over(_signal: int, _frame: FrameType | None) -> None:
    raise TooCostlyError(
        f"Judging it takes more than {JUDGE_SECONDS:.0f} seconds of the judge's own processor time"
    )
