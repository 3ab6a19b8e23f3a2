"""The judge as a process of its own, reached over a pipe: one JSON line each way.

No line of the judge is imported here, so nothing that a learner's code does to this process
can reach a verdict, and nothing that a kernel does in the judge can end the notebook.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

COMMAND = (sys.executable, "-P", "-m", "graders.judge.serve")
SECONDS = 180.0  # a check in a class full of cold machines; the judge's own limits are tighter
_DOCTOR = "Run `tilewise doctor` in a terminal: it says what works here and how to fix the rest."
# These change what a Python program does in ways that are meant for the notebook only.
_NOT_INHERITED = ("MPLBACKEND", "PYTHONBREAKPOINT", "PYTHONSTARTUP", "PYTHONINSPECT")


class JudgeUnavailable(Exception):  # noqa: N818 - a state of the judge, like KeyboardInterrupt
    """The judge could not answer: what happened, and the mend. Never the learner's fault."""

    def __init__(self, message: str, mend: str = _DOCTOR, detail: str = "") -> None:
        super().__init__(f"{message} {mend}")
        self.message = message
        self.mend = mend
        self.detail = detail


class NotKnown(JudgeUnavailable):
    """The judge was asked for something by a name that it does not know."""


class JudgeProcess:
    """Starts the judge when it is first needed, keeps it warm, and starts it again when it died.

    One request at a time; safe to use from several threads, and after a fork (the child gets
    a judge of its own). `seconds` is the limit for one answer, a cold start included.
    """

    def __init__(
        self, command: tuple[str, ...] | None = None, seconds: float | None = None
    ) -> None:
        self._command = COMMAND if command is None else command
        self._seconds = SECONDS if seconds is None else seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._errors: IO[bytes] | None = None
        self._unread = b""
        os.register_at_fork(after_in_child=self._after_fork)

    def start(self) -> None:
        """Start the process and warm it up, without waiting, so that it is ready when needed.

        Says nothing when that fails: the first request will.
        """
        threading.Thread(target=self._warm_up, name="judge-warm-up", daemon=True).start()

    def _after_fork(self) -> None:
        """In the child nobody holds the lock, whoever held it in the parent."""
        self._lock = threading.Lock()

    def _warm_up(self) -> None:
        with contextlib.suppress(JudgeUnavailable):
            self.ask({"op": "warm"})

    def ask(
        self, request: dict[str, Any], progress: Callable[[int, int], None] | None = None
    ) -> dict[str, Any]:
        """The answer to one request. Raises JudgeUnavailable when there is none to be had.

        `progress` is told how many cases are done, of how many, while they run. An interrupt
        (the notebook's stop button) ends the judge and is passed on.
        """
        with self._lock:
            if not self._alive():
                self._start()
            try:
                self._send(request)
                answer = self._receive()
                while "progress" in answer:
                    if progress is not None:
                        progress(*map(int, answer["progress"]))
                    answer = self._receive()
            except BaseException:
                self._stop()
                raise
        if not answer.get("ok"):
            error = str(answer.get("error", "The judge gave no reason."))
            raise (NotKnown if error.startswith("There is no ") else JudgeUnavailable)(error)
        return answer

    def close(self) -> None:
        """End the process, also in the middle of a request; the next one starts a new one."""
        process = self._process
        if process is not None and self._owner == os.getpid():
            _kill(process)  # whoever waits for an answer stops waiting, and gives the lock back
        with self._lock:
            self._stop()

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process is not None and self._alive() else None

    def _alive(self) -> bool:
        if self._process is None or self._owner != os.getpid():
            return False
        return self._process.poll() is None

    def _start(self) -> None:
        if self._owner == os.getpid():
            self._stop()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._unread = b""
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=_environment(),
                # The notebook's stop button signals its whole process group; the judge is
                # ended by us, not by that signal.
                start_new_session=True,
            )
        except OSError as error:
            self._errors.close()
            raise JudgeUnavailable(f"The judge could not be started: {error}.") from error
        self._owner = os.getpid()

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        for pipe in (process.stdin, process.stdout, self._errors):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        _kill(process)
        process.wait()

    def _send(self, request: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        line = json.dumps(request).encode() + b"\n"
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except OSError as error:
            raise self._death() from error

    def _receive(self) -> dict[str, Any]:
        line = self._read_line(time.monotonic() + self._seconds)
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise JudgeUnavailable(
                "The judge answered with something that is not an answer.", detail=repr(line[:200])
            ) from error
        if not isinstance(answer, dict):
            raise JudgeUnavailable("The judge answered with something that is not an answer.")
        return answer

    def _read_line(self, deadline: float) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise JudgeUnavailable(
                        f"The judge did not answer within {self._seconds:.0f} seconds, so it was "
                        "stopped.",
                        "Check again: a new judge is started. If it happens twice, run "
                        "`tilewise doctor` in a terminal.",
                    )
                chunk = os.read(descriptor, 1 << 16)
                if not chunk:
                    raise self._death()
                self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _death(self) -> JudgeUnavailable:
        """Why the process ended, from what it left behind."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1.0)
        said = self._last_words()
        if "No module named 'graders'" in said:
            return JudgeUnavailable(
                "The judge is not installed beside this notebook's Python.",
                "Install the course into it (`make lab` does), and restart the notebook's kernel.",
                said,
            )
        code = self._process.returncode
        return JudgeUnavailable(
            f"The judge process ended before it answered (exit code {code}).",
            f"Check again: a new judge is started. {_DOCTOR}",
            said,
        )

    def _last_words(self) -> str:
        if self._errors is None or self._errors.closed:
            return ""
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 2000))
        return self._errors.read().decode(errors="replace").strip()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the judge; its workers are in its session, and all of them end with it."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _environment() -> dict[str, str]:
    """The notebook's environment, able to find the judge wherever this package was found."""
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return environment


_shared = JudgeProcess()
atexit.register(_shared.close)


def shared() -> JudgeProcess:
    """The one judge of this Python process."""
    return _shared
