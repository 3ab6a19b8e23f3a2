"""Executes cells one after the other in a fork, and reads their outputs, with limits.

A submission in the same interpreter can send anything, so its outputs are not trusted.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graders.judge.jail import jail

CELL_SECONDS = 30.0  # of CPU time, for one cell; then it is interrupted, as in nbgrader
TOTAL_SECONDS = 300.0  # of CPU time, for a notebook
PATIENCE = 3.0  # wall-clock limits are this many times longer, for busy machines
GRACE_SECONDS = 5.0  # for a cell that was interrupted
ANSWER_BYTES = 8 << 20  # of one cell: enough for about two pictures
SCRATCH_BYTES, SCRATCH_FILES = 256 << 20, 5_000  # what cells may write
THREADS = 200
_TICK = 0.1


@dataclass(frozen=True)
class SessionCell:
    """A code cell to execute. `number` is its place in the notebook, from 0.

    `kept`: its outputs are returned.
    """

    number: int
    text: str
    is_test: bool
    kept: bool = True


@dataclass(frozen=True)
class Ran:
    """One cell's outputs, which are untrusted, and the line in which it failed.

    `timed_out`: after how many seconds it was interrupted, if it was.
    """

    outputs: tuple[dict[str, Any], ...]
    line: int | None = None
    timed_out: float | None = None


@dataclass
class Executed:
    """The cells that were executed completely, and why the later ones were not."""

    ran: dict[int, Ran] = field(default_factory=dict)
    reason: str = ""


class _Stopped(Exception):  # noqa: N818 - no error of ours
    """The session cannot go on; the text says why."""


@dataclass(frozen=True)
class SessionLimits:
    """The limits of CPU time, in seconds, for one cell and for all cells of a notebook."""

    cell: float
    total: float

    @classmethod
    def of(cls, cell: float | None) -> SessionLimits:
        """Return the default limits, or `cell` seconds for one cell and ten times that for all."""
        return cls(CELL_SECONDS, TOTAL_SECONDS) if cell is None else cls(cell, 10 * cell)


@dataclass
class Fork:
    """A process that executes one notebook: the bytes read from it and the time it has used."""

    channel: socket.socket
    handle: int
    pid: int
    scratch: Path
    _unread: bytearray = field(default_factory=bytearray)
    _started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.channel.settimeout(GRACE_SECONDS)

    def used(self) -> float:
        """Return the seconds used so far: of CPU time, or of the clock if that is more."""
        waited = (time.monotonic() - self._started) / PATIENCE
        spent = jail.cpu_seconds(self.pid)
        return max(waited, spent if spent < float("inf") else 0.0)

    def threads(self) -> int:
        try:
            return len(os.listdir(f"/proc/{self.pid}/task"))
        except OSError:
            return 0

    def interrupt(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, signal.SIGINT)

    def send(self, message: dict[str, Any]) -> None:
        self.channel.sendall(json.dumps(message).encode() + b"\n")

    def line(self) -> bytes | None:
        """Return the next line; None if none comes within a tick. Raises _Stopped at the end."""
        if b"\n" not in self._unread:
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
        end = self._unread.find(b"\n")
        if end < 0:
            return None
        found = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return found


def execute(fork: Fork, cells: Sequence[SessionCell], size: int, limits: SessionLimits) -> Executed:
    """Execute the cells in order, until one of them ends the process or has to be stopped.

    `size`: the size of the assignment's files, in bytes.
    """
    outcome = Executed()
    for cell in cells:
        try:
            outcome.ran[cell.number] = _execute_one(fork, cell, size, limits)
        except (_Stopped, OSError, ValueError, RecursionError) as error:
            why = (
                str(error)
                if isinstance(error, _Stopped)
                else "it sent something other than outputs"
            )
            outcome.reason = f"{why} in cell {cell.number + 1}"
            break
    return outcome


def _execute_one(fork: Fork, cell: SessionCell, size: int, limits: SessionLimits) -> Ran:
    fork.send(vars(cell))
    outputs: list[dict[str, Any]] = []
    received, clock = 0, _Clock(fork, limits)
    while received <= ANSWER_BYTES:
        line = fork.line()
        if clock.ticked():  # even if it keeps sending, or sends slowly
            clock.look()
            _refuse_full(fork.scratch, size)
        if line is None:
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
            timed_out = None if clock.interrupted is None else limits.cell
            return Ran(tuple(outputs), number, timed_out)
    raise _Stopped(f"it sent more than {ANSWER_BYTES >> 20} MB of outputs")


class _Clock:
    """Interrupts a cell that takes too long, and ends the session if that does not help."""

    def __init__(self, fork: Fork, limits: SessionLimits) -> None:
        self._fork, self._limits, self._began = fork, limits, fork.used()
        self.interrupted: float | None = None  # when
        self._next_look = 0.0

    def ticked(self) -> bool:
        """Whether it is time to check the limits again."""
        now = time.monotonic()
        due = now >= self._next_look
        self._next_look = now + _TICK if due else self._next_look
        return due

    def look(self) -> None:
        """Check the limits; raise _Stopped if the session has to end."""
        used = self._fork.used()
        if self._fork.threads() > THREADS:
            raise _Stopped(f"it started more than {THREADS} threads")
        if used > self._limits.total:
            raise _Stopped(f"the notebook took more than {self._limits.total:.0f} s")
        if self.interrupted is None and used - self._began > self._limits.cell:
            self._fork.interrupt()
            self.interrupted = time.monotonic()
        elif self.interrupted is not None and time.monotonic() > self.interrupted + GRACE_SECONDS:
            raise _Stopped(
                f"it took more than {self._limits.cell:.0f} s and could not be interrupted"
            )


def _refuse_full(scratch: Path, size: int) -> None:
    """Raise _Stopped if the cells have written too much. Links are not followed."""
    count = -size
    for number, path in enumerate(_beneath(scratch)):
        with contextlib.suppress(OSError):
            count += path.lstat().st_size
        if number > SCRATCH_FILES or count > SCRATCH_BYTES:
            raise _Stopped(f"it wrote more than {SCRATCH_BYTES >> 20} MB or {SCRATCH_FILES} files")


def _beneath(folder: Path) -> Iterator[Path]:
    for where, _, names in os.walk(folder):
        yield from (Path(where, name) for name in names)
