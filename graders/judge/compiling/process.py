"""The judge's end of the warm process that captures launchers and compiles kernels."""

from __future__ import annotations

import json
import os
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graders.judge.compiling.worker import STDERR_LIMIT, TOO_MUCH, receive, send_request
from graders.judge.records import GraderError
from graders.judge.sandbox import folders

ANSWER_SECONDS = 240.0  # beyond the child's own limit: then the warm process itself hangs
REPORT_LIMIT = 32 << 20  # bytes of a report; PTX of a few kernels is far below
REMEMBERED = 256  # submissions whose answer is kept


@dataclass(frozen=True)
class Answer:
    """What the child sent for one submission. None of it is trusted.

    `report` is None where none came; `at` says what was being compiled then. `lines` are all
    lines that came, the report with them.
    """

    report: Mapping[str, Any] | None
    at: Mapping[str, Any]
    lines: tuple[Mapping[str, Any], ...]
    timeout: bool
    ended: str  # "", or the limit at which the child was ended: "time", "memory", "size"
    signal: int
    stderr: str


class CompileWorker:
    """A warm process that compiles; a context manager, reusable for many submissions.

    Starts when first used, and again should it ever die. Raises GraderError where this
    machine cannot compile at all. `cpu_seconds` is what one submission may use.
    """

    module = "graders.judge.compiling.worker"  # what the process runs

    def __init__(self, cpu_seconds: float = 40.0) -> None:
        self.cpu_seconds = cpu_seconds
        self.hello: Mapping[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._directory: Path | None = None
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Any] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process and remove its directory."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()  # it holds nothing; an orderly end takes Python seconds
            self._process.wait()
            self._process = None
        if self._directory is not None:
            folders.remove(self._directory)
            self._directory = None

    def remembered(self, key: str) -> Any | None:
        """What `remember` kept under this key; None if nothing."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def remember(self, key: str, value: Any) -> None:
        """Keep a result; the oldest ones are forgotten."""
        with self._lock:
            self._known[key] = value
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)

    def ptxas(self, target: int) -> list[str]:
        """Triton's own ptxas command for a target, with {ptx} and {cubin} for the files."""
        with self._lock:
            self._start()
        return list(self.hello["ptxas"][str(target)])

    @property
    def directory(self) -> Path | None:
        """Where the files of the process lie, as long as it runs."""
        return self._directory

    def ask(self, request: Mapping[str, Any]) -> Answer:
        """The answer to a task: "capture" (`capture.child`) or "compile" (`compiling.child`)."""
        with self._lock:
            self._start()
            try:
                return self._exchange(request)
            except (OSError, ValueError, TypeError) as error:
                self.close()
                raise GraderError(f"the compile gate's process broke down: {error}") from error

    def _exchange(self, request: Mapping[str, Any]) -> Answer:
        assert self._control is not None
        limits = {"task": request["task"], "cpu_seconds": self.cpu_seconds}
        report_end, child_report = os.pipe()
        error_end, child_error = os.pipe()
        try:
            try:
                send_request(self._control, limits, dict(request), child_report, child_error)
            finally:
                os.close(child_report)
                os.close(child_error)
            report, stderr = _collect(report_end, error_end, self._control)
        finally:
            os.close(report_end)
            os.close(error_end)
        answer = receive(self._control)
        if answer is None:
            raise OSError("it ended without an answer")
        text = stderr.decode("utf-8", "replace")
        if not report.startswith(b"J"):  # written right after the jail was entered
            raise GraderError(f"a submission could not be jailed for compiling: {text.strip()}")
        lines = _lines(report[1:])
        last = lines[-1] if lines else None
        ended = not (answer["timeout"] or answer["signal"] or answer["code"])
        return Answer(
            report=last if ended else None,
            at=last or {},
            lines=lines,
            timeout=bool(answer["timeout"]),
            ended=str(answer["ended"]),
            signal=int(answer["signal"]),
            stderr=text,
        )

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        ours, theirs = socket.socketpair()
        ours.settimeout(ANSWER_SECONDS)
        self._directory = folders.make()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self.module, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_environment(str(self._directory)),
                cwd=Path(__file__).parents[3],
            )
        self._control = ours
        hello = receive(ours)
        if not hello or not hello.get("ready"):
            reason = (hello or {}).get("error", "the process ended at once")
            self.close()
            raise GraderError(f"kernels cannot be compiled on this machine: {reason}")
        self.hello = hello


# No more than this: a submission's launcher runs there, and an environment may hold passwords.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR")


def _environment(cache: str) -> dict[str, str]:
    """The compiler's environment: no interpreter, no GPU, nothing left in the user's cache."""
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    kept |= {
        "TRITON_CACHE_DIR": cache,
        "TRITON_DEFAULT_FP_FUSION": "1",  # said explicitly: 3.10 will change its default
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return kept


def _collect(report_end: int, error_end: int, control: socket.socket) -> tuple[bytes, bytes]:
    """Report and errors of a child, which is ended where it writes too much."""
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
                data = os.read(key.fd, 1 << 20)
                if not data:
                    selector.unregister(key.fd)
                elif len(kept[report_end]) <= REPORT_LIMIT:
                    kept[key.fd] += data
                    del kept[error_end][:-STDERR_LIMIT]
            if len(kept[report_end]) > REPORT_LIMIT and not told:
                told = True
                control.sendall(TOO_MUCH)  # the warm process ends the child
    return bytes(kept[report_end]), bytes(kept[error_end])


def _lines(data: bytes) -> tuple[Mapping[str, Any], ...]:
    """The report stands in the last line; those before it say how far the child is."""
    found = []
    for line in data.strip().split(b"\n"):
        try:
            report = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(report, dict):
            found.append(report)
    return tuple(found)
