"""The machines that judge: a Dask scheduler whose workers declare a GPU.

Each check goes to a worker with a free GPU. This module does not know about learners.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from graders.judge.records import GraderError

CONNECT_SECONDS = 10
CANCEL_SECONDS = 1.0  # for Dask to release a cancelled check
# Dask profiles its workers a hundred times a second, for pages that are not used here.
UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
}
RESOURCE = "GPU"
Call = Callable[[str, str], dict[str, Any]]


class WorkerLost(Exception):  # noqa: N818 - says what happened
    """A check got no answer because its worker was lost; `last`: trying again is pointless."""

    def __init__(self, message: str, last: bool = False) -> None:
        super().__init__(message)
        self.last = last


class CheckWorkers(Protocol):
    """The interface of the workers that the dispatcher uses."""

    slots: int  # how many checks can run at once, at the last count

    async def look(self) -> None:
        """Update the number of workers."""

    def judge(self, exercise: str, source: str) -> Awaitable[dict[str, Any]]:
        """Return the report of one check, as JSON data. Raises WorkerLost."""


class DaskWorkers:
    """GPU workers of a Dask scheduler; `call` runs there, with the exercise and the source."""

    def __init__(self, client: Any, call: Call) -> None:
        self._client, self._call = client, call
        self._declared: dict[str, int] = {}
        self._running: dict[str, set[asyncio.Future[None]]] = {}  # running checks, by worker
        self.slots = 0

    async def look(self) -> None:
        self._declared = await self._client.run_on_scheduler(_declared)
        self.slots = sum(self._declared.values())
        for lost in self._running.keys() - self._declared.keys() - {""}:
            for gone in self._running.pop(lost):
                gone.set_result(None)

    def _freest(self) -> str:
        """Return the worker with the most free GPUs; "" if none is known.

        Dask itself chooses by the expected duration of tasks. It could make a check wait for a
        worker with busy GPUs while another one is idle.
        """
        free = {n: gpus - len(self._running.get(n, ())) for n, gpus in self._declared.items()}
        return max(free, key=free.__getitem__, default="")

    async def judge(self, exercise: str, source: str) -> dict[str, Any]:
        """Run one check. If it is cancelled, the worker that still runs it is restarted."""
        chosen = self._freest()
        future = self._client.submit(
            *(self._call, exercise, source),
            pure=False,
            resources={RESOURCE: 1},
            priority=0,
            workers=[chosen] if chosen else None,
        )
        gone = asyncio.get_running_loop().create_future()
        answer = asyncio.ensure_future(future.result())
        self._running.setdefault(chosen, set()).add(gone)
        try:
            await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                await future.cancel()
                await asyncio.wait({answer}, timeout=CANCEL_SECONDS)  # first let Dask release it
                raise WorkerLost("its worker is gone")
            return dict(answer.result())
        except asyncio.CancelledError:
            # if this coroutine is cancelled, the time is up; if the future is, the scheduler ended
            if not future.cancelled():
                await self._stop(future)
                raise
            raise WorkerLost("the scheduler lost it") from None
        except WorkerLost:
            raise
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise WorkerLost("its worker ended each time", last=True) from None
            if isinstance(error, OSError | TimeoutError):
                raise WorkerLost("the scheduler could not be reached") from None
            raise
        finally:
            self._running.get(chosen, set()).discard(gone)
            answer.cancel()
            future.release()

    async def _stop(self, future: Any) -> None:
        """Stop a check by ending its process, because a thread cannot be ended from outside."""
        where = await self._client.processing()
        busy = [address for address, keys in where.items() if future.key in keys]
        await future.cancel(force=True)
        if busy:
            await self._client.restart_workers(busy, timeout=30, raise_for_error=False)


def _declared(dask_scheduler: Any) -> dict[str, int]:
    """Return how many GPUs each connected worker declares, by its address."""
    workers = dask_scheduler.workers.items()
    return {address: int(worker.resources.get(RESOURCE, 0)) for address, worker in workers}


async def connect(scheduler: str) -> Any:
    """Return a client of the scheduler at that address."""
    from distributed import Client

    try:
        return await Client(
            scheduler, asynchronous=True, set_as_default=False, timeout=CONNECT_SECONDS
        )
    except (OSError, TimeoutError) as error:
        raise GraderError(f"no Dask scheduler answers at {scheduler}: {error}") from error


async def start_local(workers: int, checks_each: int = 1) -> tuple[Any, Any]:
    """Return a cluster on this machine, with one process per GPU, and a client of it.

    Its scheduler uses TLS with its own certificate. Without TLS, every account of this machine
    could connect to the scheduler and run any code as its user.
    """
    from distributed import Client, LocalCluster

    cluster = await LocalCluster(
        n_workers=workers,
        threads_per_worker=checks_each,
        processes=True,
        resources={RESOURCE: checks_each},
        config=UNWATCHED,
        memory_limit=None,  # the jail limits a check's memory
        security=True,
        dashboard_address=None,
        asynchronous=True,
        silence_logs=50,
    )
    client = await Client(cluster, asynchronous=True, set_as_default=False)
    return cluster, client
