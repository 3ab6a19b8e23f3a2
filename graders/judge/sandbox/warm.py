"""The judge's side of a warm process: start it, send it messages, end it."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Self

from graders.judge.records import GraderError
from graders.judge.sandbox.serving import MESSAGE_BYTES
from graders.judge.sandbox.starting import Started, broken, last_line

START_SECONDS = 120.0  # loading torch from a cold disk may take long
STOP_SECONDS = 10.0
GRACE_SECONDS = 60.0  # after a request's own limits; then the warm process itself hangs


class WarmProcess:
    """A process that is started when it is first needed, and again if it died.

    A context manager, safe to share among threads: its methods hold `_lock`. All methods raise
    GraderError if the machine, not the submission, is at fault.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started: Started | None = None
        self._ready = False
        self.greeting: Mapping[str, Any] = {}  # the first message of the process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()

    def start(self) -> None:
        """Start the process without waiting for it."""
        with self._lock:
            self._begin()

    def _launched(self) -> Started:
        """Return a new process. Raises OSError."""
        raise NotImplementedError

    def _begin(self) -> None:
        if self._started is not None and self._started.process.poll() is None:
            return
        self._stop()
        try:
            self._started = self._launched()
        except OSError as error:
            raise GraderError(broken(str(error))) from error

    def _ensure_started(self) -> None:
        self._begin()
        if not self._ready:
            try:
                self.greeting = self._first_message()
            except BaseException:
                self._stop()
                raise
            self._ready = True

    def _first_message(self) -> Mapping[str, Any]:
        assert self._started is not None
        self._started.control.settimeout(START_SECONDS)
        try:
            raw = self._started.control.recv(MESSAGE_BYTES)
        except OSError as error:
            raise GraderError(
                f"the sandbox's warm process is not ready after {START_SECONDS:.0f} s: {error}"
            ) from error
        if not raw:
            raise GraderError(broken(last_line(self._started.errors)))
        greeting: dict[str, Any] = json.loads(raw)
        if not greeting["ready"]:
            raise GraderError(broken(greeting["error"]))
        return greeting

    def _send(self, message: bytes, descriptors: Sequence[int], seconds: float) -> None:
        """Send a request, whose answer must come within `seconds`."""
        assert self._started is not None
        self._started.control.settimeout(seconds)
        socket.send_fds(self._started.control, [message], list(descriptors))

    def _received(self) -> dict[str, Any]:
        """Return the answer to the request; raises OSError if it does not come in time."""
        assert self._started is not None
        answer = self._started.control.recv(MESSAGE_BYTES)
        if not answer:
            raise GraderError(
                f"the sandbox's warm process has died: {last_line(self._started.errors)}"
            )
        return dict(json.loads(answer))

    def _stop(self) -> None:
        started, ready = self._started, self._ready
        self._started, self._ready = None, False
        if started is not None:
            started.end(STOP_SECONDS if ready else 0.0)

    @property
    def pid(self) -> int | None:
        """The id of the process, if it was started."""
        return None if self._started is None else self._started.process.pid


def in_memory(data: bytes) -> int:
    """Return a descriptor of an in-memory file with this content."""
    descriptor = os.memfd_create("tilewise-request", os.MFD_CLOEXEC)
    raw = memoryview(data)
    while raw:
        raw = raw[os.write(descriptor, raw) :]
    return descriptor
