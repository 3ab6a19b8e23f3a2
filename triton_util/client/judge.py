"""The judge as a separate process, reached over a pipe: one JSON line each way.

This process imports no judge code. So a learner's code cannot change a verdict from here, and a
kernel that crashes the judge cannot end the notebook.
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
SECONDS = 180.0  # allows for a class of slow cold starts; the judge's own limits are tighter
_DOCTOR = "Run `tilewise doctor` in a terminal: it says what works here and how to fix the rest."
# These variables change how Python runs, and are meant for the notebook only.
_NOT_INHERITED = ("MPLBACKEND", "PYTHONBREAKPOINT", "PYTHONSTARTUP", "PYTHONINSPECT")


class JudgeUnavailable(Exception):  # noqa: N818 - a state of the judge, like KeyboardInterrupt
    """The judge could not answer: what happened, and how to fix it. Never the learner's fault."""

    def __init__(self, message: str, mend: str = _DOCTOR, detail: str = "") -> None:
        super().__init__(f"{message} {mend}")
        self.message = message
        self.mend = mend
        self.detail = detail


class NotKnown(JudgeUnavailable):
    """The judge does not know the name that it was asked for."""


class JudgeProcess:
    """Starts the judge when it is first needed, keeps it running, and restarts it if it died.

    It handles one request at a time. Several threads may use it; after a fork, the child gets a
    judge of its own. `seconds` limits the time for one answer, including a cold start.
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

        A failure is not reported here; the first request will report it.
        """
        threading.Thread(target=self._warm_up, name="judge-warm-up", daemon=True).start()

    def _after_fork(self) -> None:
        """In the child, make a new lock: a thread of the parent may have held the old one."""
        self._lock = threading.Lock()

    def _warm_up(self) -> None:
        with contextlib.suppress(JudgeUnavailable):
            self.ask({"op": "warm"})

    def ask(
        self, request: dict[str, Any], progress: Callable[[int, int], None] | None = None
    ) -> dict[str, Any]:
        """The answer to one request. Raises JudgeUnavailable if the judge cannot answer.

        `progress` is called with the number of cases done and the number of all cases. An interrupt
        (the notebook's stop button) ends the judge and is raised again.
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
        """End the process, even during a request; the next request starts a new one."""
        process = self._process
        if process is not None and self._owner == os.getpid():
            _kill(process)  # a thread that waits for an answer then stops and releases the lock
        with self._lock:
            self._stop()

    @property
    def pid(self) -> int | None:
        """The process id while the judge runs, else None."""
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
                # The stop button signals the notebook's whole process group. The judge must
                # not get that signal, because this class ends it.
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
        """The reason why the process ended, from its exit status and its error output."""
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
    """End the judge and its workers, which are in its session."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _environment() -> dict[str, str]:
    """The notebook's environment, extended so that the judge is found next to this package."""
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return environment


_shared = JudgeProcess()
atexit.register(_shared.close)


def shared() -> JudgeProcess:
    """The judge that all code of this Python process shares."""
    return _shared
