"""A class of 1,000 at the service: nothing lost, nothing twice, a fair queue that costs little.

    python benchmarks/service_load.py [--learners 1000] [--checks 10] [--compression 6]

The service is the real one: HTTP, tokens, queue, Dask scheduler and worker processes. In the
place of the judge each worker sleeps as long as a submission was measured to take on an H200
(benchmarks/results/verdicts_h200.json), divided by the compression, so that an evening passes in
eight minutes. Learners stand in one process of their own; each hands in its next check when the
last one's report is there, and a tenth of them hands in all of theirs at once. Workers are killed
all the time.

The queue's own overhead of a check is what no worker is to blame for: from the moment that the
check could start (its learner has none running, a worker is free, nobody is before it) until the
worker begins, and from the worker's end until the learner has the report. It is real time: it is
not compressed. The whole class has to fit on this machine beside the service, so a machine that is
busy, or a larger compression, shows more of it. Exit code 1 where one of the promises does not
hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import resource
import secrets
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

MEASURED = ROOT / "benchmarks/results/verdicts_h200.json"
EXERCISE = "vector_add"
EAGER = 0.1  # share of learners that hand in all at once
PROMISED_SECONDS = 0.050


def stand_in(_exercise: str, source: str) -> dict[str, Any]:
    """What a worker does here: sleep. It says when, by the clock that all processes share."""
    import json
    import os
    import threading
    import time

    began = time.monotonic()
    time.sleep(json.loads(source)["seconds"])
    who = f"{os.getpid()}/{threading.get_ident()}"
    gates = dict.fromkeys(("read", "compile", "interpret", "traffic", "gpu"), "passed")
    report = {"submission": "", "exercise": _exercise, "verdict": "passed", "points": 1}
    report |= {"max_points": 1, "gates": gates, "findings": [], "sandbox": "A", "seconds": 1.0}
    speed = {"source": source, "began": began, "ended": time.monotonic()}
    speed["who"] = who
    return {"report": report, "speed": speed}


# ---------------------------------------------------------------- the learners, one process


def learners(url: str, tokens: list[str], checks: int, seconds: list[float], out: Any) -> None:
    """All learners; sends one row for each report that somebody got."""
    out.send(asyncio.run(_all_learners(url, tokens, checks, seconds)))


async def _all_learners(
    url: str, tokens: list[str], checks: int, seconds: list[float]
) -> list[dict[str, Any]]:
    from tornado.httpclient import AsyncHTTPClient

    client = AsyncHTTPClient(force_instance=True, max_clients=len(tokens) * checks)
    rows: list[dict[str, Any]] = []
    drawn, eager = random.Random(0), eager_learners(len(tokens))

    async def check(learner: int, number: int) -> None:
        source = json.dumps({"id": f"{learner}/{number}", "seconds": drawn.choice(seconds)})
        handed_in = time.monotonic()
        told = await _ask(client, url, tokens[learner], source)
        rows.append({"learner": learner, "handed_in": handed_in, "got": time.monotonic()} | told)

    async def learn(learner: int) -> None:
        await asyncio.sleep(drawn.uniform(0, 5))
        if learner in eager:
            await asyncio.gather(*(check(learner, number) for number in range(checks)))
        else:
            for number in range(checks):
                await check(learner, number)

    await asyncio.gather(*(learn(learner) for learner in range(len(tokens))))
    return rows


def eager_learners(number: int) -> set[int]:
    """Who hands in all checks at once."""
    return set(random.Random(2).sample(range(number), int(EAGER * number)))


async def _ask(client: Any, url: str, token: str, source: str) -> dict[str, Any]:
    data = {"exercise": EXERCISE, "source": source, "key": secrets.token_urlsafe(16)}
    told = await _fetch(client, url, token, "POST", "api/jobs", json.dumps(data))
    while told["state"] != "done":
        told = await _fetch(client, url, token, "GET", f"api/jobs/{told['id']}?wait=20")
    answer = told["answer"]
    return {"sent": source, "verdict": answer["report"]["verdict"], **answer.get("speed", {})}


async def _fetch(
    client: Any, url: str, token: str, method: str, path: str, body: str | None = None
) -> dict[str, Any]:
    headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
    answer = await client.fetch(
        url + path, method=method, body=body, headers=headers, request_timeout=600
    )
    return dict(json.loads(answer.body))


# ---------------------------------------------------------------- the service


async def run(options: argparse.Namespace) -> dict[str, Any]:
    """Serve the class, kill workers, and bring back what the learners got."""
    # here, because each worker process imports this file, and the judge brings torch
    from graders.service.app import application
    from graders.service.dispatching import Dispatcher
    from graders.service.http import ClassService, serve_http
    from graders.service.identity import ClassFile, write_class_file
    from graders.service.limits import ServiceLimits
    from graders.service.queue import FairQueue
    from graders.service.workers import DaskWorkers, start_local

    rows = json.loads(MEASURED.read_text())["rows"]
    seconds = [row["seconds"] / options.compression for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "class.json"
        write_class_file(path, (f"l{n}" for n in range(options.learners)), shared=False)
        identities = ClassFile(path)
    cluster, dask = await start_local(options.processes, options.each)
    limits = ServiceLimits(
        waiting=20_000, waiting_each=options.checks, per_hour=1e6, burst=1000, kept_each=1000
    )
    dispatcher = Dispatcher(FairQueue(limits), DaskWorkers(dask, stand_in))
    service = ClassService(dispatcher, identities)
    server = serve_http(application(service), service, 0, "127.0.0.1")
    port = next(iter(server._sockets.values())).getsockname()[1]
    processes = multiprocessing.get_context("spawn")
    here, there = processes.Pipe()
    given = (f"http://127.0.0.1:{port}/", list(identities.learners.values()), options.checks)
    crowd = processes.Process(target=learners, args=(*given, seconds, there), daemon=True)
    crowd.start()
    killed: list[int] = []
    beside = [asyncio.create_task(dispatcher.watch())]
    beside.append(asyncio.create_task(kill_workers(cluster, options.kill_every, killed)))
    began = time.monotonic()
    got = await asyncio.to_thread(here.recv)
    took = time.monotonic() - began
    for task in beside:
        task.cancel()
    server.stop()
    crowd.join()
    await dask.close()
    await cluster.close()
    return {"rows": got, "took": took, "killed": len(killed), "counted": dispatcher.counted}


async def kill_workers(cluster: Any, every: float, killed: list[int]) -> None:
    """Kill one worker process after the other, as a machine that goes does: without a word."""
    drawn = random.Random(1)
    while True:
        await asyncio.sleep(every)
        running = [nanny.process.pid for nanny in cluster.workers.values() if nanny.process]
        pid = drawn.choice([pid for pid in running if pid])
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)


# ---------------------------------------------------------------- what came of it


def overheads(rows: list[dict[str, Any]]) -> list[float]:
    """Seconds of each check that are the queue's own: idle worker before, delivery after."""
    found = []
    by_worker: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_worker.setdefault(row["who"], []).append(row)
    for line in by_worker.values():
        line.sort(key=lambda row: row["began"])
        for before, row in zip([None, *line], line, strict=False):
            if before is not None:  # the first one of a worker waits for the worker's own start
                ready = max(before["ended"], row["handed_in"])
                found.append(row["began"] - ready + row["got"] - row["ended"])
    return found


def shares(rows: list[dict[str, Any]]) -> dict[str, float]:
    """How equally learners were served while all of them still had checks to hand in."""
    ends: dict[int, list[float]] = {}
    for row in rows:
        ends.setdefault(row["learner"], []).append(row["ended"])
    until = min(max(times) for times in ends.values())
    counts = {learner: sum(t <= until for t in times) for learner, times in ends.items()}
    eager = eager_learners(len(ends))
    squares = sum(count**2 for count in counts.values())
    return {
        "jain": sum(counts.values()) ** 2 / (len(counts) * squares),
        "eager": statistics.mean(counts[n] for n in counts if n in eager),
        "modest": statistics.mean(counts[n] for n in counts if n not in eager),
        "fewest": min(counts.values()),
        "most": max(counts.values()),
    }


def told(result: dict[str, Any], options: argparse.Namespace) -> bool:
    """Print what held, and what did not."""
    rows = result["rows"]
    expected = options.learners * options.checks
    ids = Counter((row["learner"], json.loads(row["sent"])["id"]) for row in rows)
    right = [row for row in rows if row["verdict"] == "passed" and row["source"] == row["sent"]]
    own = sorted(overheads(right))
    p50, p95, p99 = (own[int(share * (len(own) - 1))] for share in (0.5, 0.95, 0.99))
    fair = shares(right)
    slept = sum(row["ended"] - row["began"] for row in right)
    busy = slept / result["took"] / (options.processes * options.each)
    lines = [
        (f"{len(rows)} reports for {expected} checks in {result['took']:.0f} s", True),
        (f"workers killed: {result['killed']}", result["killed"] > 0),
        (f"lost: {expected - len(ids)}", len(ids) == expected),
        (f"answered twice: {len(rows) - len(ids)}", len(rows) == len(ids)),
        (
            f"answered by the service: {result['counted']['answered']}",
            result["counted"]["answered"] == expected,
        ),
        (f"ungraded, or somebody else's: {len(rows) - len(right)}", len(right) == len(rows)),
        (
            f"the queue's own overhead: p50 {p50 * 1e3:.1f}, p95 {p95 * 1e3:.1f}, p99 "
            f"{p99 * 1e3:.1f} ms",
            p95 <= PROMISED_SECONDS,
        ),
        (f"workers were busy for {busy:.0%} of the time", True),
        (
            f"fairness (Jain): {fair['jain']:.4f}; checks when the first learner was through: "
            f"{fair['fewest']:.0f} to {fair['most']:.0f}; who handed in all at once "
            f"{fair['eager']:.2f}, others {fair['modest']:.2f}",
            fair["jain"] >= 0.95 and fair["eager"] <= 1.1 * fair["modest"],
        ),
    ]
    for line, holds in lines:
        print(("      " if holds else "FAILS ") + line)
    return all(holds for _, holds in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--learners", type=int, default=1000)
    parser.add_argument("--checks", type=int, default=10)
    parser.add_argument("--processes", type=int, default=8, help="of workers")
    parser.add_argument("--each", type=int, default=4, help="checks at once in one process")
    parser.add_argument("--compression", type=float, default=6.0, help="of measured times")
    parser.add_argument("--kill-every", type=float, default=15.0, help="seconds")
    options = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    result = asyncio.run(run(options))
    raise SystemExit(0 if told(result, options) else 1)


if __name__ == "__main__":
    main()
