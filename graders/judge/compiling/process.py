"""Talks to the warm process that captures launchers and compiles kernels; runs in the judge."""

from __future__ import annotations

import io
import json
import os
import selectors
import socket
import subprocess
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from graders.judge.compiling.worker import STDERR_LIMIT, TOO_MUCH, receive, send_request
from graders.judge.records import GraderError
from graders.judge.sandbox import folders, starting

ANSWER_SECONDS = 300.0  # after the child's own limit; then the warm process itself hangs
REPORT_LIMIT = 32 << 20  # bytes of a report on compiling; PTX of a few kernels is much less
# As Python objects, JSON takes up to 30 times its bytes (for example `{"":0},`). So reports that
# a launcher may have forged have a lower limit: with all copies the judge stays below 512 MiB.
PLAN_LIMIT = 8 << 20
LINE_LIMIT = 1 << 20  # of one line of a conversation
LIMITS = {"capture": PLAN_LIMIT, "compile": REPORT_LIMIT, "call": LINE_LIMIT}
READ_BYTES = 1 << 20  # at once
READ_BYTES_OF_LINES = 1 << 12  # of a conversation, whose lines are short
Reply = Callable[[bytes], bytes | None]  # takes a line of a child, returns the answer
REMEMBERED_BYTES = 4 << 20  # of cached answers; as objects they take ten times that
USUAL_BYTES = 1 << 14


@dataclass(frozen=True)
class Answer:
    """What the child sent for one submission. None of it is trusted.

    `at` is the last line that came, {} if none did. If the child finished, it is the report,
    which is None otherwise. `written` is all that came.
    """

    report: Mapping[str, Any] | None
    at: Mapping[str, Any]
    written: bytes
    timeout: bool
    ended: str  # "", or the limit at which the child was ended: "time", "memory", "size"
    signal: int
    stderr: str

    def lines(self, begin: bytes = b"") -> Iterator[Mapping[str, Any]]:
        """Yield the lines that are JSON objects and start with `begin`.

        Objects take much memory, so only one is made at a time.
        """
        for line in io.BytesIO(self.written):
            read = _object(line) if line.startswith(begin) else None
            if read is not None:
                yield read


class CompileWorker:
    """A warm process that compiles; a context manager, reusable for many submissions.

    The first use starts it; if it dies, the next use restarts it. Raises GraderError if this
    machine cannot compile at all. `cpu_seconds` is what one submission may use.
    """

    module = starting.COMPILER  # what the process runs

    def __init__(self, cpu_seconds: float = 40.0) -> None:
        self.cpu_seconds = cpu_seconds
        self.hello: Mapping[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._directory: Path | None = None
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[Any, int]] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and remove its directory."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()  # it has nothing to save; a normal exit takes seconds
            self._process.wait()
            self._process = None
        if self._directory is not None:
            folders.remove(self._directory)
            self._directory = None

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
            self._start()
        return list(self.hello["ptxas"][str(target)])

    @property
    def directory(self) -> Path | None:
        """The directory of the process's files, while it runs."""
        return self._directory

    def ask(
        self,
        request: Mapping[str, Any],
        cpu_seconds: float | None = None,
        reply: Reply | None = None,
    ) -> Answer:
        """Return the answer to a task: "capture", "compile" or "call".

        See `launch_trace.trace_task`, `compiling.compile_task` and `calling.call_task`.

        The child may use `cpu_seconds`, at most what a submission may. `reply` gets each line of
        the child, and its result goes back to the child; None sends no answer, and an EndedError
        ends the child as if it had written too much.
        """
        allowed = self.cpu_seconds if cpu_seconds is None else min(cpu_seconds, self.cpu_seconds)
        with self._lock:
            self._start()
            try:
                return self._exchange(request, allowed, reply)
            except (OSError, ValueError, TypeError) as error:
                self.close()
                raise GraderError(f"the compile gate's process broke down: {error}") from error
            except BaseException:  # for example Ctrl-C: the next request must not read this answer
                self.close()
                raise

    def _exchange(
        self, request: Mapping[str, Any], cpu_seconds: float, reply: Reply | None
    ) -> Answer:
        assert self._control is not None
        limits = {"task": request["task"], "cpu_seconds": cpu_seconds}
        report_end, child_report = os.pipe() if reply is None else _both_ways()
        error_end, child_error = os.pipe()
        try:
            try:
                send_request(self._control, limits, dict(request), child_report, child_error)
            finally:
                os.close(child_report)
                os.close(child_error)
            most = LIMITS[request["task"]]
            answering = None if reply is None else Answering(report_end, reply)
            report, stderr = _collect(report_end, error_end, self._control, most, answering)
        finally:
            os.close(report_end)
            os.close(error_end)
        answer = receive(self._control)
        if answer is None:
            raise OSError("it ended without an answer")
        text = stderr.decode("utf-8", "replace")
        if not report.startswith(b"J"):  # the child writes it right after it enters the jail
            raise GraderError(f"a submission could not be jailed for compiling: {text.strip()}")
        written = report[1:]
        last = next(filter(None, map(_object, reversed(written.split(b"\n")))), None)
        ended = not (answer["timeout"] or answer["signal"] or answer["code"])
        return Answer(
            report=last if ended else None,
            at=last or {},
            written=written,
            timeout=bool(answer["timeout"]),
            ended=str(answer["ended"]),
            signal=int(answer["signal"]),
            stderr=text,
        )

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        started = starting.compiler(self.module)
        self._process, self._control = started.process, started.control
        self._directory = started.directory
        self._control.settimeout(ANSWER_SECONDS)
        hello = receive(self._control)
        if not hello or not hello.get("ready"):
            reason = (hello or {}).get("error", "the process ended at once")
            self.close()
            raise GraderError(f"kernels cannot be compiled on this machine: {reason}")
        self.hello = hello


def _both_ways() -> tuple[int, int]:
    """Return the two ends of a channel that also carries answers."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)  # a stalled child must not block the judge
    return ours.detach(), theirs.detach()


def _read(end: int, most: int) -> bytes:
    """Return the bytes that have come; b"" if the child ended without reading its last answer."""
    try:
        return os.read(end, most)
    except ConnectionResetError:
        return b""


class EndedError(Exception):
    """The conversation with a child is over, and the child is ended."""


class Answering:
    """Passes on the lines of a child as they come, and sends back the answers."""

    def __init__(self, channel: int, reply: Reply) -> None:
        self._channel = channel
        self._reply = reply
        self._over = False

    def taken(self, data: bytearray, most: int) -> None:
        """Remove whole lines from `data`; its first byte, which the jail wrote, stays.

        A child that does not read, or whose conversation is over, gets no answer. Then `data` is
        filled to one byte more than `most`, so that the child is ended.
        """
        while not self._over and (end := data.find(b"\n", 1)) > 0:
            line = bytes(data[1:end])
            del data[1 : end + 1]
            try:
                answer = self._reply(line)
                if answer is not None and os.write(self._channel, answer) < len(answer):
                    self._over = True
            except EndedError:
                self._over = True
            except (BlockingIOError, ConnectionError):  # it does not read, or has ended
                self._over = True
        if self._over:
            data[1:] = bytes(most)


def _collect(
    report_end: int,
    error_end: int,
    control: socket.socket,
    most: int,
    answering: Answering | None = None,
) -> tuple[bytes, bytes]:
    """Return a child's report and errors; end the child if it writes more than `most` bytes."""
    kept = {report_end: bytearray(), error_end: bytearray()}
    deadline = time.monotonic() + ANSWER_SECONDS
    told = False
    with selectors.DefaultSelector() as selector:
        for end in kept:
            selector.register(end, selectors.EVENT_READ)
        while selector.get_map():
            if time.monotonic() > deadline:
                raise OSError("it does not end its child")
            for key, _ in selector.select(1.0):
                data = _read(key.fd, READ_BYTES if answering is None else READ_BYTES_OF_LINES)
                if not data:
                    selector.unregister(key.fd)
                elif len(kept[report_end]) <= most:
                    kept[key.fd] += data
                    if answering is not None and key.fd == report_end:
                        answering.taken(kept[report_end], most)
                    del kept[error_end][:-STDERR_LIMIT]
            if len(kept[report_end]) > most and not told:
                told = True
                control.sendall(TOO_MUCH)  # the warm process ends the child
    return bytes(kept[report_end]), bytes(kept[error_end])


def _object(line: bytes) -> Mapping[str, Any] | None:
    """Return the JSON object in a line; None if it is not one."""
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
