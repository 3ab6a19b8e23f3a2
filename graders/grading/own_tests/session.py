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
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from graders.grading.marks import UNSANDBOXED, unsandboxed_allowed
from graders.grading.own_tests import files
from graders.grading.own_tests.execution import Executed, Fork, SessionCell, SessionLimits, execute
from graders.judge.records import GraderError
from graders.judge.sandbox import folders
from graders.judge.sandbox.starting import broken, last_line, worker_environment

START_SECONDS = 120.0
MEMORY_BYTES = 3 << 30
BESIDE_BYTES = 512 << 20  # of the files beside a notebook
WITHOUT: tuple[str, ...] = ()  # layers of the jail that our tests switch off
_MESSAGE_BYTES = 1 << 16
_ROOT = Path(__file__).resolve().parents[3]
_PROCESS = Path(__file__).with_name("process.py")
# Slow to import: imported before the fork if a notebook mentions them.
_SLOW = ("numpy", "matplotlib", "pandas", "scipy", "sklearn", "torch", "triton", "triton_util")
_IMPORTED = {"matplotlib": ("matplotlib.pyplot", "matplotlib_inline.backend_inline")}


class CannotRun(GraderError):  # noqa: N818 - a state of the machine
    """Own tests cannot be executed here; the message says why, and what to do."""


class Session:
    """This command's warm process, and one fork of it per notebook."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._directory: Path | None = None
        self._preload: frozenset[str] = frozenset()
        self._without: tuple[str, ...] = ()
        self._told: dict[str, Any] = {}

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
        try:
            size = _fill(self._directory / "work", beside)
            limits = SessionLimits.of(cell_seconds)
            with self._fork(limits) as fork:
                return execute(fork, cells, size, limits)
        except (OSError, ValueError) as error:
            self.close()
            raise CannotRun(f"the session of tests could not be run: {error}") from error
        except BaseException:  # for example Ctrl-C: the next request must not read this answer
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
                start_new_session=True,  # Ctrl-C is for the command only; this ends with it
            )

    @contextlib.contextmanager
    def _fork(self, limits: SessionLimits) -> Iterator[Fork]:
        """Start a fork that executes cells; it is killed when the block ends."""
        assert self._control is not None
        ours, theirs = socket.socketpair()
        order = {"cpu_seconds": 2 * limits.total, "memory_bytes": MEMORY_BYTES}
        with ours:
            with theirs:
                socket.send_fds(self._control, [json.dumps(order).encode()], [theirs.fileno()])
            message, (handle,), *_ = socket.recv_fds(self._control, _MESSAGE_BYTES, 1)
            assert self._directory is not None
            try:
                yield Fork(ours, handle, int(json.loads(message)), self._directory / "work")
            finally:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                os.close(handle)
                self._control.recv(_MESSAGE_BYTES)


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


def _layout(directory: Path) -> dict[str, str]:
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
