"""Executes the cells of a submission in a jailed process, as nbgrader's `Execute` does in a kernel.

The text of a cell is sent just before it is executed. Outputs are read here, with limits on size
and time. They are not trusted, because a submission in the same interpreter can send anything.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import shutil
import signal
import socket
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from graders.grading.marks import UNSANDBOXED, unsandboxed_allowed
from graders.grading.own_tests import files
from graders.grading.own_tests.execution import Executed, Fork, SessionCell, SessionLimits, execute
from graders.judge.records import GraderError
from graders.judge.sandbox import folders
from graders.judge.sandbox.serving import MESSAGE_BYTES
from graders.judge.sandbox.starting import Started, started, worker_environment
from graders.judge.sandbox.warm import START_SECONDS, WarmProcess

MEMORY_BYTES = 3 << 30
BESIDE_BYTES = 512 << 20  # of the files beside a notebook
WITHOUT: tuple[str, ...] = ()  # layers of the jail that our tests switch off
_PROCESS = "graders.grading.own_tests.process"
# Slow to import: imported before the fork if a notebook mentions them.
_SLOW = ("numpy", "matplotlib", "pandas", "scipy", "sklearn", "torch", "triton", "triton_util")
_IMPORTED = {"matplotlib": ("matplotlib.pyplot", "matplotlib_inline.backend_inline")}


class CannotRun(GraderError):  # noqa: N818 - a state of the machine
    """Own tests cannot be executed here; the message says why, and what to do."""


class Session(WarmProcess):
    """This command's warm process, and one fork of it per notebook."""

    def __init__(self) -> None:
        super().__init__()
        self._preload: frozenset[str] = frozenset()
        self._without: tuple[str, ...] = ()

    def run(
        self,
        cells: Sequence[SessionCell],
        beside: Path | None = None,
        cell_seconds: float | None = None,
    ) -> Executed:
        """Execute the cells in order, in a folder with copies of the files in `beside`.

        `cell_seconds` is the limit for one cell, if it is not the default.

        Raises CannotRun if this machine cannot execute them.
        """
        mentioned = frozenset(
            name for name in _SLOW if any(re.search(rf"\b{name}\b", cell.text) for cell in cells)
        )
        with self._lock:
            try:
                self._ensure_imported(mentioned)
            except GraderError as error:
                raise CannotRun(str(error)) from error
            self._refuse_below_tier_a()
            try:
                size = _fill(self._directory / "work", beside)
                limits = SessionLimits.of(cell_seconds)
                with self._fork(limits) as fork:
                    return execute(fork, cells, size, limits)
            except CannotRun:
                raise
            except (OSError, ValueError, GraderError) as error:
                self._stop()
                raise CannotRun(f"the session of tests could not be run: {error}") from error
            except BaseException:  # for example Ctrl-C: the next request must not read this answer
                self._stop()
                raise

    @property
    def _directory(self) -> Path:
        assert self._started is not None
        return self._started.directory

    def _refuse_below_tier_a(self) -> None:
        if self.greeting["tier"] != "A" and not unsandboxed_allowed():
            layers = self.greeting["layers"].items()
            missing = [f"{name}: {said}" for name, said in layers if said.startswith("missing")]
            raise CannotRun(
                f"the sandbox is not whole on this machine ({'; '.join(missing)}; it does not stop "
                f"{', '.join(self.greeting['open_to'])}), so tests beside a submission are not "
                f"run: grade on another machine, by hand, or with {UNSANDBOXED}=1"
            )

    def _ensure_imported(self, mentioned: frozenset[str]) -> None:
        """Start the process, again if it has not imported what is mentioned."""
        if not mentioned <= self._preload or self._without != WITHOUT:
            self._stop()
        self._preload |= mentioned
        self._without = WITHOUT
        self._ensure_started()

    def _launched(self) -> Started:
        directory = folders.make()
        settings = _layout(directory) | {
            "preload": [n for name in _SLOW if name in self._preload for n in _modules(name)],
            "without": self._without,
        }
        return started(_PROCESS, directory, _environment(directory), settings)

    @contextlib.contextmanager
    def _fork(self, limits: SessionLimits) -> Iterator[Fork]:
        """Start a fork that executes cells; it is killed when the block ends."""
        assert self._started is not None
        ours, theirs = socket.socketpair()
        order = {"cpu_seconds": 2 * limits.total, "memory_bytes": MEMORY_BYTES}
        with ours:
            with theirs:
                self._send(json.dumps(order).encode(), [theirs.fileno()], START_SECONDS)
            message, (handle,), *_ = socket.recv_fds(self._started.control, MESSAGE_BYTES, 1)
            try:
                yield Fork(ours, handle, int(json.loads(message)), self._directory / "work")
            finally:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                os.close(handle)
                self._received()


def _fill(scratch: Path, beside: Path | None) -> int:
    """Empty the folder, copy the files beside the notebook to it, and return their bytes."""
    for entry in scratch.iterdir():  # the folder itself stays, because the jail has it open
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


def _layout(directory: Path) -> dict[str, Any]:
    """Return the folders of the warm process. Only the jail protects the secret."""
    directory.chmod(0o755)
    for name in ("work", "profile", "probe"):
        (directory / name).mkdir(mode=0o700)
    (directory / "probe").chmod(0o1777)
    secret = directory / "probe" / "secret"
    secret.write_text("not for submissions\n")
    names = {"scratch": "work", "profile": "profile", "secret": "probe/secret"}
    return {key: str(directory / name) for key, name in names.items()}


def _environment(directory: Path) -> dict[str, str]:
    """Return a minimal environment, without the instructor's variables; HOME is the scratch."""
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
    """Return the only session of this process; a fork gets its own."""
    global _shared
    if _shared is None or _shared[0] != os.getpid():
        made = Session()
        atexit.register(_close, os.getpid(), made)
        _shared = os.getpid(), made
    return _shared[1]


def _close(owner: int, session: Session) -> None:
    if owner == os.getpid():
        session.close()
