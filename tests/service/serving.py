"""The service in this process, with stand-ins for its workers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPResponse

from graders.service.app import application
from graders.service.board import Board
from graders.service.dispatching import Dispatcher
from graders.service.http import ClassService, serve_http
from graders.service.identity import ClassFile, Identities
from graders.service.limits import ServiceLimits
from graders.service.queue import FairQueue

EXERCISE = "vector_add"
ADA, BOB, SHARED = "ada-" + "a" * 28, "bob-" + "b" * 28, "all-" + "s" * 28
LIMITS = ServiceLimits(burst=1000, per_hour=1e6, waiting_each=20)
GATES = dict.fromkeys(("read", "compile", "interpret", "traffic", "gpu"), "passed")


def report(exercise: str = EXERCISE, **more: Any) -> dict[str, Any]:
    """The JSON of a report that a worker may give."""
    given: dict[str, Any] = {
        "submission": "<notebook>",
        "exercise": exercise,
        "verdict": "passed",
        "points": 4,
        "max_points": 4,
        "gates": GATES,
        "findings": [],
        "sandbox": "A",
        "seconds": 1.0,
        "cases_passed": 9,
        "cases_total": 9,
    }
    return given | more


Judging = Callable[[str, str], Awaitable[dict[str, Any]]]


@dataclass
class StandIns:
    """Workers that answer as `does` says, and remember what they were asked."""

    does: Judging | None = None
    slots: int = 2
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def look(self) -> None:
        pass

    async def judge(self, exercise: str, source: str) -> dict[str, Any]:
        self.asked.append((exercise, source))
        if self.does is None:
            return {"report": report(exercise)}
        return await self.does(exercise, source)


@dataclass
class Running:
    """A service that learners can ask."""

    url: str
    port: int
    service: ClassService
    client: AsyncHTTPClient

    async def ask(
        self,
        method: str,
        path: str,
        data: Any = None,
        token: str = ADA,
        **headers: str,
    ) -> HTTPResponse:
        sent = {"Authorization": f"token {token}", "Content-Type": "application/json", **headers}
        body = data if isinstance(data, bytes | None) else json.dumps(data)
        return await self.client.fetch(
            self.url + path,
            method=method,
            body=body,
            headers={name.replace("_", "-"): value for name, value in sent.items() if value},
            raise_error=False,
            request_timeout=30,
            allow_nonstandard_methods=True,
        )

    async def submit(
        self, key: str, source: str = "source", token: str = ADA, **headers: str
    ) -> dict[str, Any]:
        data = {"exercise": EXERCISE, "source": source, "key": key.ljust(16, "-")}
        answer = await self.ask("POST", "api/jobs", data, token, **headers)
        return dict(json.loads(answer.body)) | {"status": answer.code}

    async def report(self, job_id: str, token: str = ADA) -> dict[str, Any]:
        """Wait for the report of a check."""
        while True:
            answer = await self.ask("GET", f"api/jobs/{job_id}?wait=5", token=token)
            told = json.loads(answer.body)
            if told["state"] == "done":
                return dict(told["answer"])


def write_class(folder: Path) -> Path:
    path = folder / "class.json"
    path.write_text(json.dumps({"shared": SHARED, "learners": {"ada": ADA, "bob": BOB}}))
    return path


@asynccontextmanager
async def serving(
    folder: Path,
    workers: StandIns | None = None,
    identities: Identities | None = None,
    board: Board | None = None,
    **limits: Any,
) -> AsyncIterator[Running]:
    """A service with the tokens of `write_class`, and limits that are wide where none are named."""
    queue = FairQueue(replace(LIMITS, **limits))
    dispatcher = Dispatcher(queue, workers or StandIns())
    who = identities or ClassFile(write_class(folder))
    service = ClassService(dispatcher, who, board)
    if board is not None:
        dispatcher.done = lambda job: board.record(job.learner, job.answer or {})
    server = serve_http(application(service), service, 0, "127.0.0.1")
    port = next(iter(server._sockets.values())).getsockname()[1]
    watching = asyncio.create_task(dispatcher.watch())
    client = AsyncHTTPClient(force_instance=True, max_clients=2000)
    try:
        yield Running(f"http://127.0.0.1:{port}/", port, service, client)
    finally:
        watching.cancel()
        client.close()
        server.stop()
        await server.close_all_connections()
        await dispatcher.close()
