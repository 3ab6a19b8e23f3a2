"""The judge's side of a task: what a fork writes while it runs, and how it ended."""

from __future__ import annotations

import io
import json
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graders.judge.records import GraderError
from graders.judge.sandbox.serving import STDERR_LIMIT, STOP, Ending
from graders.judge.sandbox.warm import GRACE_SECONDS, WarmProcess

READ_BYTES = 1 << 20  # at once
READ_BYTES_OF_LINES = 1 << 12  # of a conversation, whose lines are short
Reply = Callable[[bytes], bytes | None]  # takes a line of a fork, returns the answer


@dataclass(frozen=True)
class Answer:
    """What the fork of a task sent. None of it is trusted.

    `at` is the last line that came, {} if none did. If the fork finished, it is the report,
    which is None otherwise. `written` is all that came.
    """

    report: Mapping[str, Any] | None
    at: Mapping[str, Any]
    written: bytes
    timeout: bool
    ended: str  # "size" if it wrote too much, else the reason of its `Ending`
    signal: int
    stderr: str
    ending: Ending = Ending()  # noqa: RUF009 - frozen

    def lines(self, begin: bytes = b"") -> Iterator[Mapping[str, Any]]:
        """Yield the lines that are JSON objects and start with `begin`.

        Objects take much memory, so only one is made at a time.
        """
        for line in io.BytesIO(self.written):
            read = _object(line) if line.startswith(begin) else None
            if read is not None:
                yield read


class EndedError(Exception):
    """The conversation with a fork is over, and the fork is ended."""


class TaskProcess(WarmProcess):
    """A warm process whose forks do tasks, each with its own data; see `serving.Tasks`."""

    def _done(
        self, asked: Mapping[str, Any], data: int, most: int, reply: Reply | None = None
    ) -> Answer:
        """Return the answer to a request about the file of descriptor `data`.

        A fork that writes more than `most` bytes is ended. `reply` gets each line of the fork, and
        its result goes back to the fork; None sends no answer, and an EndedError ends the fork as
        if it had written too much.
        """
        with self._lock:
            self._ensure_started()
            try:
                return self._exchange(asked, data, most, reply)
            except (OSError, ValueError, TypeError) as error:
                self._stop()
                raise GraderError(f"the sandbox's warm process does not answer: {error}") from error
            except BaseException:  # for example Ctrl-C: the next request must not read this answer
                self._stop()
                raise

    def _exchange(
        self, asked: Mapping[str, Any], data: int, most: int, reply: Reply | None
    ) -> Answer:
        assert self._started is not None
        report_end, child_report = os.pipe() if reply is None else _both_ways()
        error_end, child_error = os.pipe()
        seconds = asked["wall_seconds"] + GRACE_SECONDS
        try:
            try:
                message = json.dumps(asked).encode()
                self._send(message, [data, child_report, child_error], seconds)
            finally:
                os.close(child_report)
                os.close(child_error)
            collecting = _Collecting(report_end, error_end, most, reply)
            report, stderr = collecting.collect(self._started.control, time.monotonic() + seconds)
        finally:
            os.close(report_end)
            os.close(error_end)
        ending = Ending(**self._received())
        text = stderr.decode("utf-8", "replace")
        if not report.startswith(b"J"):  # the fork writes it right after it enters the jail
            raise GraderError(f"a submission could not be jailed: {text.strip()}")
        return _answer(report[1:], text, "size" if collecting.stopped else ending.reason, ending)


def _answer(written: bytes, stderr: str, ended: str, ending: Ending) -> Answer:
    status = ending.status
    killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    # The kernel ends a process that exceeds its CPU time with one of two signals.
    by_kernel = not ended and killed in (signal.SIGXCPU, signal.SIGKILL)
    timeout = by_kernel or ended in ("time", "processor")
    last = next(filter(None, map(_object, reversed(written.split(b"\n")))), None)
    return Answer(
        report=None if timeout or status else last,
        at=last or {},
        written=written,
        timeout=timeout,
        ended=ended,
        signal=killed,
        stderr=stderr,
        ending=ending,
    )


def _both_ways() -> tuple[int, int]:
    """Return the two ends of a channel that also carries answers."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)  # a stalled fork must not block the judge
    return ours.detach(), theirs.detach()


class _Collecting:
    """Reads a fork's report and errors; has the fork ended if it writes more than `most` bytes."""

    def __init__(self, report: int, errors: int, most: int, reply: Reply | None) -> None:
        self._report, self._most, self._reply = report, most, reply
        self._kept = {report: bytearray(), errors: bytearray()}
        self.stopped = False

    def collect(self, control: socket.socket, deadline: float) -> tuple[bytes, bytes]:
        """Return both when the fork has ended."""
        report, errors = self._kept.values()
        most_at_once = READ_BYTES if self._reply is None else READ_BYTES_OF_LINES
        with selectors.DefaultSelector() as selector:
            for end in self._kept:
                selector.register(end, selectors.EVENT_READ)
            while selector.get_map():
                if time.monotonic() > deadline:
                    raise OSError("it does not end its fork")
                for key, _ in selector.select(1.0):
                    data = _read(key.fd, most_at_once)
                    if not data:
                        selector.unregister(key.fd)
                    elif not self.stopped:
                        self._kept[key.fd] += data
                        del errors[:-STDERR_LIMIT]
                        if self._over(report):
                            self.stopped = True
                            control.send(STOP)
        return bytes(report), bytes(errors)

    def _over(self, report: bytearray) -> bool:
        """Answer the whole lines of a conversation; return whether the fork must be ended.

        The first byte, which the jail wrote, stays. A fork that does not read its answers, or
        whose conversation is over, must be ended, and what it wrote after that does not count.
        """
        while self._reply is not None and (end := report.find(b"\n", 1)) > 0:
            line = bytes(report[1:end])
            del report[1 : end + 1]
            try:
                answer = self._reply(line)
                heard = answer is None or os.write(self._report, answer) == len(answer)
            except (EndedError, BlockingIOError, ConnectionError):
                heard = False
            if not heard:
                del report[1:]
                return True
        return len(report) > self._most


def _read(end: int, most: int) -> bytes:
    """Return the bytes that have come; b"" if the fork ended without reading its last answer."""
    try:
        return os.read(end, most)
    except ConnectionResetError:
        return b""


def _object(line: bytes) -> Mapping[str, Any] | None:
    """Return the JSON object in a line; None if it is not one."""
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
