"""Formgrader's Autograde and Generate feedback, without holding up the server.

nbgrader works in the process of the Jupyter server, which answers nobody else meanwhile: for
half a minute where a submission has an endless loop, and for as long where a class gets its
feedback. Here the work goes to a process of its own, one request after the other in the order of
the clicks. The page says "Please wait..." in the line of a student until that one is done, as
before, and everything else on it keeps working.
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
ENDED = {  # what is said where the process has ended before its answer
    "autograde": "the process that grades has ended; nothing was changed: press Autograde again",
    "generate_feedback": (
        "the process that writes feedback has ended, and pages may be missing: "
        "press Generate feedback again"
    ),
}


class Queue:
    """What is to be done, and the process that does it; started when it is first needed."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()  # whoever came first is first
        self._process: Process | None = None

    async def ask(self, request: dict[str, str | None]) -> dict[str, Any]:
        """What nbgrader's API answers, or that the process has ended instead."""
        async with self._turn:
            was_there = self._process is not None
            began, answer = await self._told(request)
            if was_there and not began:  # it had ended since the last request, and nobody saw it
                _, answer = await self._told(request)
        return answer or {"success": False, "error": ENDED[str(request["work"])], "log": ""}

    async def _told(self, request: dict[str, str | None]) -> tuple[bool, dict[str, Any] | None]:
        """Whether the process began, and its answer; None where it has ended.

        Its first line says that it has read the request: what was begun is not done again.
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
            pass  # it has ended, or said more than the limit
        self.end()
        return began, None

    def end(self) -> None:
        """Kill the process, if there is one; the next request gets a new one."""
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
    """The queue of this server."""
    return _queues.setdefault(asyncio.get_running_loop(), Queue())


def take_over() -> None:
    """Let formgrader's buttons use the queue, and its pages have a policy.

    Without effect where there is no formgrader.
    """
    handlers: Any = sys.modules.get(HANDLERS)
    if handlers is None:
        return
    page_policy.take_over(*(import_module(f"{PACKAGE}.{name}") for name in ("base", "handlers")))
    handlers.AutogradeHandler.post = _queued(handlers, "autograde")
    handlers.GenerateFeedbackHandler.post = _queued(handlers, "generate_feedback")
    handlers.GenerateAllFeedbackHandler.post = _queued(handlers, "generate_feedback")


def _queued(handlers: Any, work: str) -> Any:
    """The method `post` of a handler, as nbgrader guards it, that waits for the queue."""

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
