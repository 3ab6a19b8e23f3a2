"""Talks to the warm process that captures launchers and compiles kernels; runs in the judge."""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graders.judge.sandbox import starting
from graders.judge.sandbox.starting import Started
from graders.judge.sandbox.tasks import Answer, EndedError, Reply, TaskProcess
from graders.judge.sandbox.warm import in_memory

__all__ = ["Answer", "CompileWorker", "EndedError"]

WALL_FACTOR, START_SECONDS = 6.0, 15.0  # on a busy machine a process gets part of the CPU
REPORT_LIMIT = 32 << 20  # bytes of a report on compiling; PTX of a few kernels is much less
# As Python objects, JSON takes up to 30 times its bytes (for example `{"":0},`). So reports that
# a launcher may have forged have a lower limit: with all copies the judge stays below 512 MiB.
PLAN_LIMIT = 8 << 20
LINE_LIMIT = 1 << 20  # of one line of a conversation
LIMITS = {"capture": PLAN_LIMIT, "compile": REPORT_LIMIT, "call": LINE_LIMIT}
REMEMBERED_BYTES = 4 << 20  # of cached answers; as objects they take ten times that
USUAL_BYTES = 1 << 14


class CompileWorker(TaskProcess):
    """A warm process that compiles, reusable for many submissions.

    `cpu_seconds` is what one submission may use.
    """

    module = starting.COMPILER  # the role of the process

    def __init__(self, cpu_seconds: float = 40.0) -> None:
        super().__init__()
        self.cpu_seconds = cpu_seconds
        self._known: OrderedDict[str, tuple[Any, int]] = OrderedDict()

    def _launched(self) -> Started:
        return starting.compiler(self.module)

    def remembered(self, key: str) -> Any | None:
        """Return what `remember` stored under this key, or None."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key, (None, 0))[0]

    def remember(self, key: str, value: Any, size: int = USUAL_BYTES) -> None:
        """Cache the result of an answer of `size` bytes; the oldest results are dropped."""
        with self._lock:
            self._known[key] = value, size
            while sum(size for _, size in self._known.values()) > REMEMBERED_BYTES:
                self._known.popitem(last=False)

    def ptxas(self, target: int) -> list[str]:
        """Return Triton's own ptxas command for a target, with {ptx} and {cubin} for the files."""
        with self._lock:
            self._ensure_started()
        return list(self.greeting["ptxas"][str(target)])

    @property
    def directory(self) -> Path | None:
        """The directory of the process's files, while it runs."""
        return None if self._started is None else self._started.directory

    def ask(
        self,
        request: Mapping[str, Any],
        cpu_seconds: float | None = None,
        reply: Reply | None = None,
    ) -> Answer:
        """Return the answer to a task: "capture", "compile" or "call".

        See `launch_trace.trace_task`, `compiling.compile_task` and `calling.call_task`. The fork
        may use `cpu_seconds`, at most what a submission may. A called function, which talks with
        `reply`, may wait for the judge's answers.
        """
        allowed = self.cpu_seconds if cpu_seconds is None else min(cpu_seconds, self.cpu_seconds)
        asked = {
            "task": request["task"],
            "cpu_seconds": allowed,
            "wall_seconds": WALL_FACTOR * allowed + START_SECONDS,
            "may_sleep": reply is not None,
        }
        data = in_memory(json.dumps(request).encode())
        try:
            return self._done(asked, data, LIMITS[request["task"]], reply)
        finally:
            os.close(data)
