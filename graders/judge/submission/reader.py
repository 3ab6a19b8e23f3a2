"""`Reader` reads an untrusted file in a process with limits.

Parsing can be very expensive: some kilobytes of brackets take gigabytes, some kilobytes of names
take hours. So the judge opens a file and passes its descriptor to a warm process, whose fork reads
it. A file that exceeds the limits becomes a finding, and the judge continues.
"""

from __future__ import annotations

import array
import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graders.judge.submission.refusals import Refusal, SubmissionError, refusal

SECONDS = 4  # of CPU time, for one file
MEMORY_BYTES = 512 * 1024 * 1024  # of address space, including the interpreter's own
PATIENCE_SECONDS = 60.0  # wall time, for an overloaded machine
MOST_ANSWER = 128 * 1024 * 1024  # bytes of JSON
_ROOT = Path(__file__).resolve().parents[3]
_PROCESS = Path(__file__).with_name("reader_process.py")


@dataclass(frozen=True)
class Cost:
    """What reading one file took: seconds of wall time and of CPU time, bytes of memory."""

    seconds: float
    processor: float
    memory: int


class Reader:
    """The warm process, started by `start` or on first use; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self.last = Cost(0.0, 0.0, 0)

    def start(self) -> None:
        """Start the process without waiting for it."""
        with self._lock:
            self._ensure_started()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()

    def ask(self, operation: str, descriptor: int, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run an operation on the file of `descriptor`, and return its answer.

        Raises only SubmissionError: it says why the file is refused, which limit it exceeds, or
        that reading failed because of an error of ours.
        """
        message = json.dumps({**request, "operation": operation}).encode()
        with self._lock:
            try:
                raw, ending = self._exchange(message, descriptor)
            except (OSError, ValueError):  # the warm process was killed: try once more
                try:
                    raw, ending = self._exchange(message, descriptor)
                except (OSError, ValueError) as error:
                    raise _failed(type(error).__name__) from error
        try:
            told = json.loads(raw) if raw else {}
        except ValueError as error:
            raise _failed("half an answer") from error
        return _found(told, ending)

    def _exchange(self, message: bytes, descriptor: int) -> tuple[bytes, Mapping[str, Any]]:
        self._ensure_started()
        assert self._control is not None
        answer, theirs = os.pipe2(os.O_CLOEXEC)
        try:
            try:
                rights = array.array("i", [descriptor, theirs])
                ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)]
                self._control.sendmsg([message], ancillary)
            finally:
                os.close(theirs)
            raw = _all(answer, time.monotonic() + 2 * PATIENCE_SECONDS)
            ending = json.loads(self._control.recv(1 << 16))
        except BaseException:  # for example Ctrl-C: the next request must not read this answer
            self._stop()
            raise
        finally:
            os.close(answer)
        self.last = Cost(ending["seconds"], ending["processor"], ending["bytes"])
        return raw, ending

    def _ensure_started(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._stop()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(2 * PATIENCE_SECONDS)
        config = {
            "socket": theirs.fileno(),
            "root": str(_ROOT),
            "seconds": SECONDS,
            "bytes": MEMORY_BYTES,
            "patience": PATIENCE_SECONDS,
        }
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(_PROCESS), json.dumps(config)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"LC_ALL": "C.UTF-8"},
                cwd="/",
                start_new_session=True,  # Ctrl-C is for the judge only; this ends with it
            )

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = self._control = None


def _all(descriptor: int, deadline: float) -> bytes:
    """Return everything written to a pipe until its other end is closed."""
    parts: list[bytes] = []
    size = 0
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while True:
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError
        part = os.read(descriptor, 1 << 20)
        size += len(part)
        if size > MOST_ANSWER:
            raise ValueError
        if not part:
            return b"".join(parts)
        parts.append(part)


def _found(told: Mapping[str, Any], ending: Mapping[str, Any]) -> dict[str, Any]:
    if "found" in told:
        return dict(told["found"])
    if "refused" in told:
        raise SubmissionError(Refusal(**told["refused"]))
    if "fault" in told:
        raise _failed(str(told["fault"]))
    status = int(ending["status"])
    if not ending["patient"]:
        raise _failed(f"no answer in {PATIENCE_SECONDS:.0f} s on this machine")
    killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if killed in (signal.SIGXCPU, signal.SIGKILL):
        raise _too_costly(f"takes more than {SECONDS} seconds")
    raise _too_costly(f"takes more than {MEMORY_BYTES >> 20} MB of memory")


def _too_costly(what: str) -> SubmissionError:
    return refusal(
        "too-costly",
        "The file cannot be read in reasonable time and memory",
        f"Reading it {what}, which no kernel does.",
        "Hand in the notebook with the kernel and its launcher, without large texts and tables.",
    )


def _failed(kind: str) -> SubmissionError:
    return refusal(
        "reading-failed",
        "The file could not be read",
        f"Reading it failed in a way that the judge does not know ({kind}). That is a fault of "
        "the judge.",
        "Please report it together with the file.",
    )


_shared: tuple[int, Reader] | None = None


def shared() -> Reader:
    """Return the only reader of this process; a fork gets its own."""
    global _shared
    if _shared is None or _shared[0] != os.getpid():
        reader = Reader()
        atexit.register(_close, os.getpid(), reader)
        _shared = os.getpid(), reader
    return _shared[1]


def _close(owner: int, reader: Reader) -> None:
    if owner == os.getpid():
        reader.close()
