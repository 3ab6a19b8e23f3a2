"""The service over HTTP: JSON for `check(..., gpu=True)`, and the page of the board.

    POST   api/jobs        {"exercise", "source", "key"} → {"id", "state", …}
    GET    api/jobs/ID     its progress, or its report; ?wait=SECONDS waits for news
    DELETE api/jobs/ID     withdraw it
    GET    api/status      number of workers and of waiting checks
    GET, POST, DELETE api/board   the learner's own place on the board: get it, join, leave
    GET    board           the page
    GET    health          for monitoring; needs no token

`api/` accepts only a token in the header, not a cookie: no page of another site can use it.
"""

from __future__ import annotations

import json
import logging
import math
from dataclasses import dataclass
from http.client import responses
from typing import Any

from tornado import web
from tornado.httpserver import HTTPServer

from graders.judge import discovery
from graders.judge.plain_text import one_line
from graders.service.board import Board
from graders.service.dispatching import Dispatcher
from graders.service.identity import Identities, client_of, token_in
from graders.service.outgoing import ungraded
from graders.service.queue import FairQueue, NotTaken, ServiceJob

LONGEST_WAIT = 20.0
KEY_LENGTH = 16, 100
JSON_TYPE = "application/json"
log = logging.getLogger("tilewise.serve")
_BUSY = json.dumps({"error": "Too many ask the class's GPU at once: try again.", "again": 30})
TOO_MANY = (
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 30\r\n"
    f"Content-Type: {JSON_TYPE}\r\nContent-Length: {len(_BUSY)}\r\n\r\n{_BUSY}"
).encode()
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass
class ClassService:
    """The objects that all handlers share."""

    dispatcher: Dispatcher
    identities: Identities
    board: Board | None = None

    @property
    def queue(self) -> FairQueue:
        return self.dispatcher.queue


class ServiceHandler(web.RequestHandler):
    """Base handler: sets headers, sends errors as JSON, and hides the server's name."""

    def initialize(self, service: ClassService) -> None:
        self.service = service
        self.queue = service.queue

    def set_default_headers(self) -> None:
        self.clear_header("Server")
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def now(self) -> float:
        return self.service.dispatcher.clock()

    def refuse(self, refusal: NotTaken) -> None:
        self.set_status(refusal.status)
        if refusal.again:
            self.set_header("Retry-After", str(math.ceil(refusal.again)))
        self.finish({"error": refusal.message, "again": refusal.again})

    def write_error(self, status_code: int, **_: Any) -> None:
        said = responses.get(status_code, "Error")
        self.finish({"error": f"{said}."})

    def log_exception(self, kind: Any, value: Any, trace: Any) -> None:
        if not isinstance(value, web.HTTPError):
            log.error("a request failed with a fault of ours", exc_info=(kind, value, trace))


class LearnerHandler(ServiceHandler):
    """Base handler for learners: `self.learner` is the owner of the token."""

    async def prepare(self) -> None:
        token = self.token(self.request.headers.get("Authorization", ""))
        found = await self.service.identities.learner(token, self.secret()) if token else None
        if found is None:
            self.unknown()
        self.learner = found or ""

    def token(self, header: str) -> str:
        return token_in(header)

    def secret(self) -> str:
        return self.request.headers.get("X-Tilewise-Learner", "")

    def unknown(self) -> None:
        self.refuse(NotTaken(403, "This token opens nothing here: ask your instructor."))

    def data(self) -> dict[str, Any]:
        """Return the JSON object that was sent; raises an HTTP error."""
        kind = self.request.headers.get("Content-Type", "").partition(";")[0].strip()
        if kind != JSON_TYPE:
            raise web.HTTPError(415)
        try:
            found = json.loads(self.request.body)
        except (ValueError, RecursionError):
            raise web.HTTPError(400) from None
        if not isinstance(found, dict):
            raise web.HTTPError(400)
        return found


class JobsHandler(LearnerHandler):
    """Accepts checks."""

    def post(self) -> None:
        try:
            job = self._submitted(self.data())
        except NotTaken as refusal:
            self.refuse(refusal)
            return
        self.service.dispatcher.pump()
        self.set_status(202)
        self.finish(told(job, self.service))

    def _submitted(self, data: dict[str, Any]) -> ServiceJob:
        exercise, source, key = (data.get(name) for name in ("exercise", "source", "key"))
        if not (isinstance(exercise, str) and isinstance(source, str) and isinstance(key, str)):
            raise NotTaken(400, "exercise, source and key have to be texts.")
        if exercise not in discovery.exercises():
            raise NotTaken(404, f"There is no exercise called {one_line(exercise, 60)!r} here.")
        if not KEY_LENGTH[0] <= len(key) <= KEY_LENGTH[1]:
            raise NotTaken(400, "A key has {} to {} characters.".format(*KEY_LENGTH))
        if len(source.encode("utf-8", "replace")) > self.queue.limits.source_bytes:
            raise NotTaken(413, f"More than {self.queue.limits.source_bytes:,} bytes of source.")
        client = client_of(self.learner, self.request.remote_ip or "")
        return self.queue.submit(self.learner, key, exercise, source, self.now(), client)


class JobHandler(LearnerHandler):
    """Reports the progress of a check. Other learners get "not found"."""

    def _job(self, job_id: str) -> ServiceJob | None:
        job = self.queue.of(self.learner, job_id)
        if job is None:
            self.refuse(NotTaken(404, "There is no such check, or its report was kept no longer."))
        return job

    async def get(self, job_id: str) -> None:
        job = self._job(job_id)
        if job is None:
            return
        try:
            seconds = float(self.get_query_argument("wait", "0"))
        except ValueError:
            raise web.HTTPError(400) from None
        if job.state != "done" and seconds > 0:  # also false for nan
            await self.service.dispatcher.news(job, min(seconds, LONGEST_WAIT))
        self.finish(told(job, self.service))

    def delete(self, job_id: str) -> None:
        job = self._job(job_id)
        if job is not None:
            taken_back = ungraded(job.exercise, "it was taken back")
            self.queue.withdraw(job, taken_back, self.now())
            self.service.dispatcher.wake(job)
            self.finish(told(job, self.service))


def told(job: ServiceJob, service: ClassService) -> dict[str, Any]:
    """Return what a learner may know of their own check."""
    said: dict[str, Any] = {"id": job.id, "state": job.state}
    if job.state == "done":
        return said | {"answer": job.answer}
    slots = service.dispatcher.slots
    position = service.queue.position(job)
    wait = service.queue.expected_wait(job, slots, position)
    return said | {
        "position": position,
        "expected_seconds": None if wait is None else round(wait, 1),
        "workers": slots,
        "retried": max(0, job.attempts - 1),
    }


class StatusHandler(LearnerHandler):
    """Reports how busy the service is."""

    def get(self) -> None:
        queue, slots = self.queue, self.service.dispatcher.slots
        self.finish({"waiting": queue.waiting, "running": queue.running, "workers": slots})


class HealthHandler(ServiceHandler):
    """Answers if the service runs."""

    def get(self) -> None:
        self.finish({"ok": True})


class LimitedServer(HTTPServer):
    """Limits connections to what memory and descriptors allow; further ones get an error."""

    most = 1000

    def handle_stream(self, stream: Any, address: Any) -> None:
        if len(self._connections) >= self.most:
            stream.write(TOO_MANY).add_done_callback(lambda written: stream.close())
            return
        super().handle_stream(stream, address)


def serve_http(app: web.Application, service: ClassService, port: int, address: str) -> HTTPServer:
    """Listen on this address; the service's limits cut off slow and large requests."""
    limits = service.queue.limits
    discovery.exercises()  # read now, so that the first request does not block all others
    server = LimitedServer(
        app,
        max_header_size=16_384,
        max_body_size=limits.body_bytes,
        body_timeout=limits.body_seconds,
        idle_connection_timeout=limits.idle_seconds,
    )
    server.most = limits.connections
    server.listen(port, address, backlog=1024)
    return server
