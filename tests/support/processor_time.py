"""A limit of processor time for a piece of a test: no timing, only "linear or for ever"."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def processor_seconds(most: float) -> Iterator[None]:
    """End what takes longer: a quadratic walk over a megabyte takes an hour."""

    def over(*_: object) -> None:
        raise AssertionError(f"more than {most} s of the processor")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
