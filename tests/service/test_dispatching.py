"""Workers that go, hang and fail: no check is lost, and nobody is told a zero."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graders.service.workers import DaskWorkers, WorkerLost, start_local
from tests.service.serving import EXERCISE, Running, StandIns, report, serving


def served(folder: Path, workers: Any, act: Any, **limits: Any) -> None:
    async def main() -> None:
        async with serving(folder, workers, **limits) as running:
            await act(running)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_check_whose_worker_went_is_judged_again(tmp_path: Path) -> None:
    tried: Counter[str] = Counter()

    async def does(_exercise: str, source: str) -> dict[str, Any]:
        tried[source] += 1
        if tried[source] < 3:
            raise WorkerLost("its machine went")
        return {"report": report()}

    async def act(running: Running) -> None:
        jobs = [await running.submit(f"k{number}", f"s{number}") for number in range(5)]
        for job in jobs:
            assert (await running.report(job["id"]))["report"]["verdict"] == "passed"
        assert set(tried.values()) == {3}

    served(tmp_path, StandIns(does), act)


@pytest.mark.parametrize("last", [False, True])
def test_a_check_that_ends_each_worker_is_ungraded(tmp_path: Path, last: bool) -> None:
    async def does(*_: str) -> dict[str, Any]:
        raise WorkerLost("it went", last=last)

    async def act(running: Running) -> None:
        told = await running.report((await running.submit("k"))["id"])
        assert told["report"]["verdict"] == "ungraded"
        assert told["report"]["points"] is None
        assert len(running.service.queue._jobs) == 1

    workers = StandIns(does)
    served(tmp_path, workers, act)
    assert len(workers.asked) == (1 if last else 3)


def test_a_check_without_an_end_gives_its_worker_back(tmp_path: Path) -> None:
    async def does(_exercise: str, source: str) -> dict[str, Any]:
        if source == "endless":
            await asyncio.sleep(3600)
        return {"report": report()}

    async def act(running: Running) -> None:
        endless = await running.submit("k1", "endless")
        short = await running.submit("k2", "short")
        assert (await running.report(endless["id"]))["report"]["verdict"] == "ungraded"
        assert (await running.report(short["id"]))["report"]["verdict"] == "passed"

    served(tmp_path, StandIns(does, slots=1), act, running=0.3)


def test_without_a_worker_a_check_keeps_its_place(tmp_path: Path) -> None:
    workers = StandIns(slots=0)

    async def act(running: Running) -> None:
        job = await running.submit("k")
        assert (job["workers"], job["expected_seconds"]) == (0, None)
        workers.slots = 1
        assert (await running.report(job["id"]))["report"]["verdict"] == "passed"

    served(tmp_path, workers, act)


def sleeps(exercise: str, source: str) -> dict[str, Any]:
    """What a worker of the test does."""
    import time

    time.sleep(float(source))
    return {"report": {**REPORT, "exercise": exercise}}


REPORT = report()


@pytest.mark.slow
def test_a_killed_process_of_dask_loses_no_check(tmp_path: Path) -> None:
    """The real scheduler, and a real worker process that is killed in the middle."""

    async def main() -> None:
        cluster, client = await start_local(1)
        workers = DaskWorkers(client, sleeps)
        try:
            async with serving(tmp_path, workers) as running:  # type: ignore[arg-type]
                jobs = [await running.submit(f"k{number}", "1.0") for number in range(2)]
                while running.service.queue.running == 0:
                    await asyncio.sleep(0.05)
                await asyncio.sleep(0.3)
                (nanny,) = cluster.workers.values()
                os.kill(nanny.process.pid, signal.SIGKILL)
                for job in jobs:
                    told = await running.report(job["id"])
                    assert told["report"]["verdict"] == "passed"
                    assert told["report"]["exercise"] == EXERCISE
        finally:
            await client.close()
            await cluster.close()

    asyncio.run(asyncio.wait_for(main(), 120))
