"""Runs formgrader's Autograde and Generate feedback without blocking the server.

nbgrader works in the process of the Jupyter server, which meanwhile answers no other request:
for half a minute if a submission has an endless loop, and as long for a class's feedback. Here a
separate process does the work, one request after the other in the order of the clicks. As before,
the page says "Please wait..." in the student's line until that student is done, and everything
else on it keeps working.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from importlib import import_module
from typing import Any

from graders.grading.plugins import page_policy

PACKAGE = "nbgrader.server_extensions.formgrader"
HANDLERS = f"{PACKAGE}.apihandlers"
LONGEST_ANSWER = 1 << 24  # bytes: nbgrader's log of one request
ENDED = {  # messages if the process ended before it answered
    "autograde": "the process that grades has ended; nothing was changed: press Autograde again",
    "generate_feedback": (
        "the process that writes feedback has ended, and pages may be missing: "
        "press Generate feedback again"
    ),
}


class Queue:
    """The requests, and the process that does them, which the first request starts."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()  # serves waiting requests in order
        self._process: Process | None = None

    async def ask(self, request: dict[str, str | None]) -> dict[str, Any]:
        """Return the answer of nbgrader's API, or a message that the process has ended."""
        async with self._turn:
            was_there = self._process is not None
            began, answer = await self._told(request)
            if was_there and not began:  # it ended unnoticed since the last request
                _, answer = await self._told(request)
        return answer or {"success": False, "error": ENDED[str(request["work"])], "log": ""}

    async def _told(self, request: dict[str, str | None]) -> tuple[bool, dict[str, Any] | None]:
        """Return whether the process began, and its answer; None if it has ended.

        Its first line says that it has read the request; such a request is not repeated.
        """
        process, began = await self._running(), False
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            await process.stdin.drain()
            began = bool(await process.stdout.readline())
            if line := await process.stdout.readline():
                return began, json.loads(line)
        except (ConnectionError, ValueError):
            pass  # it has ended, or its answer exceeds the limit
        self.end()
        return began, None

    def end(self) -> None:
        """Kill the process, if there is one; the next request starts a new one."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        self._process = None

    async def _running(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "graders.grading.plugins.formgrader_worker"),
                stdin=PIPE,
                stdout=PIPE,
                limit=LONGEST_ANSWER,
                env=environment,
            )
        return self._process


_queues: dict[asyncio.AbstractEventLoop, Queue] = {}


def queue() -> Queue:
    """Return the queue of this server."""
    return _queues.setdefault(asyncio.get_running_loop(), Queue())


def take_over() -> None:
    """Make formgrader's buttons use the queue, and its pages send a content policy.

    No effect if there is no formgrader.
    """
    handlers: Any = sys.modules.get(HANDLERS)
    if handlers is None:
        return
    page_policy.take_over(*(import_module(f"{PACKAGE}.{name}") for name in ("base", "handlers")))
    handlers.AutogradeHandler.post = _queued(handlers, "autograde")
    handlers.GenerateFeedbackHandler.post = _queued(handlers, "generate_feedback")
    handlers.GenerateAllFeedbackHandler.post = _queued(handlers, "generate_feedback")


def _queued(handlers: Any, work: str) -> Any:
    """Return a handler's method `post`, with nbgrader's access checks, that uses the queue."""

    async def post(self: Any, assignment_id: str, student_id: str | None = None) -> None:
        request: dict[str, str | None] = {
            "work": work,
            "course": str(self.coursedir.root),
            "database": str(self.db_url),
            "assignment": assignment_id,
            "student": student_id,
        }
        self.write(json.dumps(await queue().ask(request)))

    return handlers.web.authenticated(handlers.check_xsrf(handlers.check_notebook_dir(post)))
