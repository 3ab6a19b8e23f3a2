"""Workers whose running jobs are timed from outside, by the judge."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from graders.judge.sandbox import protocol
from graders.judge.sandbox.batch import Batch
from graders.judge.sandbox.pool import Job, Outcome, Workers
from graders.judge.sandbox.protocol import Device
from graders.judge.sandbox.serving import Ending

POLL_SECONDS = 0.0005


class WatchedWorkers(Workers):
    """Workers for a GPU that also measure each job's time with the judge's own clock."""

    def __init__(self, device: Device = "cuda", capability: int = 90) -> None:
        super().__init__(device, capability=capability)
        self._windows: dict[int, float] | None = None

    def clocked(
        self, jobs: Sequence[Job], **options: Any
    ) -> tuple[list[Outcome], dict[int, float]]:
        """Run jobs of one source; return each one's seconds from arguments to stored result.

        A job without an entry did not finish. Its process reports its progress; the clock is
        the judge's.
        """
        self._windows = {}
        try:
            return self.run(jobs, **options), self._windows
        finally:
            self._windows = None

    def _exchange(self, batch: Batch) -> Ending:
        if self._windows is None:
            return super()._exchange(batch)
        over = threading.Event()
        watcher = threading.Thread(target=_watch, args=(batch, over, self._windows), daemon=True)
        watcher.start()
        try:
            return super()._exchange(batch)
        finally:
            over.set()
            watcher.join()


def _watch(batch: Batch, over: threading.Event, windows: dict[int, float]) -> None:
    began: dict[int, float] = {}
    while True:
        last = over.is_set()
        now = time.perf_counter()
        for index in range(len(batch.plan.jobs)):
            state = batch.header(index).state
            if state >= protocol.RUNNING:
                began.setdefault(index, now)
            if state == protocol.DONE:
                windows.setdefault(index, now - began[index])
        if last:
            return
        time.sleep(POLL_SECONDS)
