"""The machines that judge: a Dask scheduler whose workers declare a GPU.

Dask gives a lost worker's check to another one. Nothing here knows of learners.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from graders.judge.records import GraderError

CONNECT_SECONDS = 10
# Dask watches its workers a hundred times a second, for pages that nobody opens here.
UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
}
RESOURCE = "GPU"
Call = Callable[[str, str], dict[str, Any]]


class WorkerLost(Exception):  # noqa: N818 - says what happened
    """A check was not answered because its worker went; `last` where trying again is no use."""

    def __init__(self, message: str, last: bool = False) -> None:
        super().__init__(message)
        self.last = last


class CheckWorkers(Protocol):
    """What the dispatcher needs of those that judge."""

    slots: int  # how many checks can run at once, as far as is known

    async def look(self) -> None:
        """See how many workers there are now."""

    def judge(self, exercise: str, source: str) -> Awaitable[dict[str, Any]]:
        """The report of one check, as JSON data. Raises WorkerLost."""


class DaskWorkers:
    """GPU workers of a Dask scheduler; `call` runs there, with the exercise and the source."""

    def __init__(self, client: Any, call: Call) -> None:
        self._client, self._call = client, call
        self.slots = 0

    async def look(self) -> None:
        self.slots = int(await self._client.run_on_scheduler(_declared))

    async def judge(self, exercise: str, source: str) -> dict[str, Any]:
        """Run one check. Where it is given up, the worker that still runs it is started anew."""
        resources = {RESOURCE: 1}
        future = self._client.submit(
            self._call, exercise, source, pure=False, resources=resources, priority=0
        )
        try:
            answer = await future.result()
        except asyncio.CancelledError:
            # of this coroutine: the time is up; of the future: the scheduler went
            if not future.cancelled():
                await self._stop(future)
                raise
            raise WorkerLost("the scheduler lost it") from None
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise WorkerLost("its worker ended each time", last=True) from None
            if isinstance(error, OSError | TimeoutError):
                raise WorkerLost("the scheduler could not be reached") from None
            raise
        finally:
            future.release()
        return dict(answer)

    async def _stop(self, future: Any) -> None:
        """A thread cannot be ended from outside, so the process that has it is."""
        where = await self._client.processing()
        busy = [address for address, keys in where.items() if future.key in keys]
        await future.cancel(force=True)
        if busy:
            await self._client.restart_workers(busy, timeout=30, raise_for_error=False)


def _declared(dask_scheduler: Any) -> float:
    """The GPUs that the workers declare which are connected now."""
    workers = dask_scheduler.workers.values()
    return float(sum(worker.resources.get(RESOURCE, 0) for worker in workers))


async def connect(scheduler: str) -> Any:
    """A client of the scheduler at that address."""
    from distributed import Client

    try:
        return await Client(
            scheduler, asynchronous=True, set_as_default=False, timeout=CONNECT_SECONDS
        )
    except (OSError, TimeoutError) as error:
        raise GraderError(f"no Dask scheduler answers at {scheduler}: {error}") from error


async def start_local(workers: int, checks_each: int = 1) -> tuple[Any, Any]:
    """A cluster of this machine, one process for each GPU, and a client of it.

    Its scheduler speaks TLS with a certificate of its own: who reaches a scheduler without one
    can run any code as its user, and so could every account of this machine.
    """
    import dask
    from distributed import Client, LocalCluster

    dask.config.set(UNWATCHED)
    cluster = await LocalCluster(
        n_workers=workers,
        threads_per_worker=checks_each,
        processes=True,
        resources={RESOURCE: checks_each},
        memory_limit=None,  # what a check may take, its jail says
        security=True,
        dashboard_address=None,
        asynchronous=True,
        silence_logs=50,
    )
    client = await Client(cluster, asynchronous=True, set_as_default=False)
    return cluster, client
