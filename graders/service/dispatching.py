"""Sends checks to free workers, and returns their reports to the queue."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from graders.service.outgoing import cleaned, ungraded
from graders.service.queue import FairQueue, ServiceJob
from graders.service.workers import CheckWorkers, WorkerLost

LOOK_SECONDS = 1.0  # between two counts of the workers
log = logging.getLogger("tilewise.serve")
Done = Callable[[ServiceJob], None]


class Dispatcher:
    """Keeps every worker busy, with one check each.

    `done` is called for each check that has its report, before the learner gets it.
    """

    def __init__(
        self,
        queue: FairQueue,
        workers: CheckWorkers,
        done: Done = lambda job: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.queue, self._workers, self.done = queue, workers, done
        self.clock = clock
        self.counted: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waking: dict[str, asyncio.Event] = {}

    @property
    def slots(self) -> int:
        """Return how many checks can run at once."""
        return self._workers.slots

    async def watch(self) -> None:
        """Update the number of workers, which come and go, until cancelled."""
        while True:
            try:
                await self._workers.look()
            except (OSError, TimeoutError) as error:  # the scheduler may be restarting
                log.warning("the scheduler does not answer: %r", error)
            self.pump()
            self.queue.forget_old(self.clock())
            await asyncio.sleep(LOOK_SECONDS)

    def pump(self) -> None:
        """Start as many waiting checks as workers are free."""
        while self.queue.running < self.slots:
            job = self.queue.next(self.clock())
            if job is None:
                return
            task = asyncio.get_running_loop().create_task(self._judge(job))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            self.wake(job)

    async def _judge(self, job: ServiceJob) -> None:
        try:
            answer = await asyncio.wait_for(
                self._workers.judge(job.exercise, job.source), self.queue.limits.running
            )
            self._finish(job, cleaned(answer, job.exercise))
        except WorkerLost as lost:
            self._lost(job, lost)
        except TimeoutError:
            seconds = self.queue.limits.running
            self._give_up(job, f"it had a worker for {seconds:.0f} s and came to no end", "late")
        except asyncio.CancelledError:
            raise
        except Exception as error:  # its text may be the submission's: only for the log
            log.error("a check failed with a fault of ours: %r", error)
            self._give_up(job, f"the judge failed ({type(error).__name__})", "faults")
        finally:
            self.pump()

    def _lost(self, job: ServiceJob, lost: WorkerLost) -> None:
        self.counted["lost"] += 1
        if lost.last or job.attempts >= self.queue.limits.attempts:
            self._give_up(job, f"the process that judged it ended each time ({lost})", "given up")
        else:
            self.queue.again(job)
            self.wake(job)

    def _give_up(self, job: ServiceJob, why: str, kind: str) -> None:
        self.counted[kind] += 1
        self._finish(job, ungraded(job.exercise, why))

    def _finish(self, job: ServiceJob, answer: dict[str, Any]) -> None:
        self.counted["answered"] += 1
        self.queue.finish(job, answer, self.clock())
        try:
            self.done(job)
        except Exception as error:  # the report must arrive even if the board cannot be written
            log.error("a result could not be put on the board: %r", error)
        self.wake(job)

    def wake(self, job: ServiceJob) -> None:
        """Wake all requests that wait for news of a check."""
        event = self._waking.pop(job.id, None)
        if event is not None:
            event.set()

    async def news(self, job: ServiceJob, seconds: float) -> None:
        """Wait until the state of a check changes, or until the time is over."""
        event = self._waking.setdefault(job.id, asyncio.Event())
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            self._waking.pop(job.id, None)

    async def close(self) -> None:
        """Cancel all running checks."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
