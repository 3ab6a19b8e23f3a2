"""Executes the cells of a submission in a jailed process, as nbgrader's `Execute` does in a kernel.

The text of a cell is sent when it is that cell's turn. Outputs are read here, with limits of size
and time, and never believed: a submission in the same interpreter can send any.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graders.grading.marks import UNSANDBOXED, unsandboxed_allowed
from graders.grading.own_tests import files
from graders.judge.jail import jail
from graders.judge.records import GraderError
from graders.judge.sandbox import folders
from graders.judge.sandbox.starting import broken, last_line, worker_environment

CELL_SECONDS = 30.0  # of the processor, for one cell; then it is interrupted, as in nbgrader
TOTAL_SECONDS = 300.0  # of the processor, for a notebook
PATIENCE = 3.0  # times as long may pass: a machine can have too much to do
GRACE_SECONDS = 5.0  # for a cell that was interrupted
START_SECONDS = 120.0
MEMORY_BYTES = 3 << 30
ANSWER_BYTES = 8 << 20  # of one cell, with two pictures or so
SCRATCH_BYTES, SCRATCH_FILES = 256 << 20, 5_000  # what cells may write
BESIDE_BYTES = 512 << 20  # of the files beside a notebook
WITHOUT: tuple[str, ...] = ()  # layers of the jail that tests leave out
_TICK = 0.1
_MESSAGE_BYTES = 1 << 16
_ROOT = Path(__file__).resolve().parents[3]
_PROCESS = Path(__file__).with_name("process.py")
# What takes long to import, and is so before a fork where a notebook mentions it.
_SLOW = ("numpy", "matplotlib", "pandas", "scipy", "sklearn", "torch", "triton", "triton_util")
_IMPORTED = {"matplotlib": ("matplotlib.pyplot", "matplotlib_inline.backend_inline")}


class CannotRun(GraderError):  # noqa: N818 - a state of the machine
    """Own tests cannot be executed here: why, and what to do about it."""


@dataclass(frozen=True)
class SessionCell:
    """A code cell to execute. `number` is its place in the notebook, from 0.

    `kept`: its outputs are wanted.
    """

    number: int
    text: str
    is_test: bool
    kept: bool = True


@dataclass(frozen=True)
class Ran:
    """What one cell put out, as a stranger sends it, and in which of its lines it failed."""

    outputs: tuple[dict[str, Any], ...]
    line: int | None = None
    timed_out: bool = False


@dataclass
class Executed:
    """The cells that were executed to their end, and why those behind them were not."""

    ran: dict[int, Ran] = field(default_factory=dict)
    reason: str = ""


class _Stopped(Exception):  # noqa: N818 - no error of ours
    """The session cannot go on; the text says why."""


class Session:
    """The warm process of this command, and one fork of it for each notebook."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._directory: Path | None = None
        self._preload: frozenset[str] = frozenset()
        self._without: tuple[str, ...] = ()
        self._told: dict[str, Any] = {}

    def run(self, cells: Sequence[SessionCell], beside: Path | None = None) -> Executed:
        """Execute the cells in order, among copies of the files in the folder `beside`.

        Raises CannotRun where that is impossible on this machine.
        """
        mentioned = frozenset(
            name for name in _SLOW if any(re.search(rf"\b{name}\b", cell.text) for cell in cells)
        )
        try:
            self._ensure_started(mentioned)
        except CannotRun:
            self.close()
            raise
        except (OSError, ValueError) as error:
            self.close()
            raise CannotRun(broken(f"{type(error).__name__}: {error}")) from error
        self._refuse_below_tier_a()
        assert self._directory is not None
        size = _fill(self._directory / "work", beside)
        try:
            with self._fork() as fork:
                return _execute(fork, cells, size)
        except (OSError, ValueError) as error:
            self.close()
            raise CannotRun(f"the process that runs tests broke: {error}") from error
        except BaseException:  # Ctrl-C, say: the next question must not meet this answer
            self.close()
            raise

    def close(self) -> None:
        """End the warm process and its fork."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._directory is not None:
            folders.remove(self._directory)
        self._process = self._control = self._directory = None

    def _refuse_below_tier_a(self) -> None:
        if self._told["tier"] != "A" and not unsandboxed_allowed():
            layers = self._told["layers"].items()
            missing = [f"{name}: {said}" for name, said in layers if said.startswith("missing")]
            raise CannotRun(
                f"the sandbox is not whole on this machine ({'; '.join(missing)}; it does not stop "
                f"{', '.join(self._told['open_to'])}), so tests beside a submission are not run: "
                f"grade on another machine, by hand, or with {UNSANDBOXED}=1"
            )

    def _ensure_started(self, mentioned: frozenset[str]) -> None:
        running = self._process is not None and self._process.poll() is None
        if running and mentioned <= self._preload and self._without == WITHOUT:
            return
        self.close()
        self._preload |= mentioned
        self._without = WITHOUT
        self._directory = folders.make()
        errors = os.memfd_create("tilewise-errors", os.MFD_CLOEXEC)
        try:
            self._start(self._directory, errors)
            assert self._control is not None
            self._told = json.loads(self._control.recv(_MESSAGE_BYTES) or b"{}")
            if "tier" not in self._told:
                raise CannotRun(broken(self._told.get("error") or last_line(errors)))
        finally:
            os.close(errors)

    def _start(self, directory: Path, errors: int) -> None:
        config = _layout(directory) | {
            "root": str(_ROOT),
            "paths": [p for p in sys.path if os.path.isabs(p) and Path(p) != _ROOT],
            "preload": [n for name in _SLOW if name in self._preload for n in _modules(name)],
            "without": self._without,
        }
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(START_SECONDS)
        with theirs:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    str(_PROCESS),
                    json.dumps(config | {"socket": theirs.fileno()}),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=_environment(directory),
                cwd="/",
                start_new_session=True,  # Ctrl-C is for the command; this ends when it does
            )

    @contextlib.contextmanager
    def _fork(self) -> Iterator[_Fork]:
        """A fork that executes cells; it is dead when the block ends."""
        assert self._control is not None
        ours, theirs = socket.socketpair()
        limits = {"cpu_seconds": 2 * TOTAL_SECONDS, "memory_bytes": MEMORY_BYTES}
        with ours:
            with theirs:
                socket.send_fds(self._control, [json.dumps(limits).encode()], [theirs.fileno()])
            message, (handle,), *_ = socket.recv_fds(self._control, _MESSAGE_BYTES, 1)
            assert self._directory is not None
            try:
                yield _Fork(ours, handle, int(json.loads(message)), self._directory / "work")
            finally:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                os.close(handle)
                self._control.recv(_MESSAGE_BYTES)


@dataclass
class _Fork:
    """The fork that executes one notebook: what was read of it, and what it has used."""

    channel: socket.socket
    handle: int
    pid: int
    scratch: Path
    _unread: bytearray = field(default_factory=bytearray)
    _started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.channel.settimeout(GRACE_SECONDS)

    def used(self) -> float:
        """Seconds of the processor so far, or of the clock where that says more."""
        waited = (time.monotonic() - self._started) / PATIENCE
        spent = jail.cpu_seconds(self.pid)
        return max(waited, spent if spent < float("inf") else 0.0)

    def interrupt(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, signal.SIGINT)

    def send(self, message: dict[str, Any]) -> None:
        self.channel.sendall(json.dumps(message).encode() + b"\n")

    def line(self) -> bytes | None:
        """The next line, None where none came within a tick. Raises _Stopped at the end."""
        while (end := self._unread.find(b"\n")) < 0:
            channel = self.channel.fileno()
            ready, _, _ = select.select([channel, self.handle], [], [], _TICK)
            if not ready:
                return None
            part = self.channel.recv(1 << 16) if channel in ready else b""
            if not part:
                raise _Stopped("the process ended")
            self._unread += part
            if len(self._unread) > ANSWER_BYTES:
                raise _Stopped(f"it wrote a line of more than {ANSWER_BYTES >> 20} MB")
        found = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return found


def _execute(fork: _Fork, cells: Sequence[SessionCell], size: int) -> Executed:
    outcome = Executed()
    for cell in cells:
        try:
            outcome.ran[cell.number] = _execute_one(fork, cell, size)
        except (_Stopped, OSError, ValueError, RecursionError) as error:
            why = str(error) if isinstance(error, _Stopped) else "the process sent no outputs"
            outcome.reason = f"{why} in cell {cell.number + 1}"
            break
    return outcome


def _execute_one(fork: _Fork, cell: SessionCell, size: int) -> Ran:
    fork.send(vars(cell))
    outputs: list[dict[str, Any]] = []
    received, clock = 0, _Clock(fork)
    while received <= ANSWER_BYTES:
        line = fork.line()
        if line is None:
            _refuse_full(fork.scratch, size)
            clock.look()
            continue
        received += len(line)
        message = json.loads(line)
        if not isinstance(message, dict):
            raise ValueError("no message")
        if isinstance(message.get("output"), dict):
            outputs.append(message["output"])
        elif message.get("done") == cell.number:
            failed = message.get("line")
            number = failed if isinstance(failed, int) and 0 < failed < 10**6 else None
            return Ran(tuple(outputs), number, clock.interrupted is not None)
    raise _Stopped(f"it sent more than {ANSWER_BYTES >> 20} MB of outputs")


class _Clock:
    """Interrupts a cell that takes too long, and gives up where that does not help."""

    def __init__(self, fork: _Fork) -> None:
        self._fork, self._began = fork, fork.used()
        self.interrupted: float | None = None  # when

    def look(self) -> None:
        """Raises _Stopped where the session has to end."""
        used = self._fork.used()
        if used > TOTAL_SECONDS:
            raise _Stopped(f"the notebook took more than {TOTAL_SECONDS:.0f} s")
        if self.interrupted is None and used - self._began > CELL_SECONDS:
            self._fork.interrupt()
            self.interrupted = time.monotonic()
        elif self.interrupted is not None and time.monotonic() > self.interrupted + GRACE_SECONDS:
            raise _Stopped(f"it took more than {CELL_SECONDS:.0f} s and could not be interrupted")


def _refuse_full(scratch: Path, size: int) -> None:
    """Stop what writes without end. Links are not followed."""
    count = -size
    for number, path in enumerate(_beneath(scratch)):
        with contextlib.suppress(OSError):
            count += path.lstat().st_size
        if number > SCRATCH_FILES or count > SCRATCH_BYTES:
            raise _Stopped(f"it wrote more than {SCRATCH_BYTES >> 20} MB or {SCRATCH_FILES} files")


def _beneath(folder: Path) -> Iterator[Path]:
    for where, _, names in os.walk(folder):
        yield from (Path(where, name) for name in names)


def _fill(scratch: Path, beside: Path | None) -> int:
    """Empty the folder, and copy what lies beside the notebook; how many bytes that are."""
    for entry in scratch.iterdir():  # the folder itself stays: the jail knows it, not its name
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    size = 0
    if beside is not None:
        size = sum(path.stat().st_size for path in files.beside(beside))
        if size > BESIDE_BYTES:
            raise CannotRun(f"the files beside the notebook hold over {BESIDE_BYTES >> 20} MB")
        files.copy(beside, scratch)
    return size


def _layout(directory: Path) -> dict[str, str]:
    """The folders of the warm process. Only the jail stands before the secret."""
    directory.chmod(0o755)
    for name in ("work", "profile", "probe"):
        (directory / name).mkdir(mode=0o700)
    (directory / "probe").chmod(0o1777)
    secret = directory / "probe" / "secret"
    secret.write_text("not for submissions\n")
    names = {"scratch": "work", "profile": "profile", "secret": "probe/secret"}
    return {key: str(directory / name) for key, name in names.items()}


def _environment(directory: Path) -> dict[str, str]:
    """Few variables, none of the instructor's; a notebook's own folder is its home."""
    work = str(directory / "work")
    return worker_environment("cpu", directory) | {
        "HOME": work,
        "TMPDIR": work,
        "IPYTHONDIR": str(directory / "profile"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "NBGRADER_EXECUTION": "autograde",
        "PYTHONDONTWRITEBYTECODE": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }


def _modules(name: str) -> Iterable[str]:
    return _IMPORTED.get(name, (name,))


_shared: tuple[int, Session] | None = None


def shared() -> Session:
    """The one session of this process; a fork has one of its own."""
    global _shared
    if _shared is None or _shared[0] != os.getpid():
        made = Session()
        atexit.register(_close, os.getpid(), made)
        _shared = os.getpid(), made
    return _shared[1]


def _close(owner: int, session: Session) -> None:
    if owner == os.getpid():
        session.close()
