"""Finds the sandbox's tier: a jailed process tries everything that a submission must not do."""

from __future__ import annotations

import contextlib
import errno
import json
import mmap
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graders.judge.jail import signals
from graders.judge.jail.jail import Jail

Tier = Literal["A", "B", "C"]
Attempts = dict[str, Callable[[], object]]
_SIGNALS = "signals"
_SECONDS = 20.0
_MEMORY_BYTES = 1 << 30


@dataclass(frozen=True)
class Probed:
    """The result. `layers`: each of the jail's layers in words. `open_to`: what it did not stop."""

    tier: Tier
    layers: dict[str, str]
    open_to: tuple[str, ...]


def probe(jail: Jail, secret: Path) -> Probed:
    """Fork a process that enters the jail and makes every attempt.

    `secret` is a file that any user may read, so only the jail protects it.
    """
    with signals.Target(jail) as target:
        attempts = _attempts(jail, secret, target)
        allowed = _try_in_child(jail, attempts, target)
        if target.was_reached() and _SIGNALS not in allowed:
            allowed.append(_SIGNALS)
    if not allowed:
        tier: Tier = "A"
    elif len(allowed) == len(attempts):
        tier = "C"
    else:
        tier = "B"
    return Probed(tier, dict(jail.layers), tuple(allowed))


def _try_in_child(jail: Jail, attempts: Attempts, target: signals.Target) -> list[str]:
    """Return the names of the attempts that succeeded."""
    shared = mmap.mmap(-1, mmap.PAGESIZE)
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            jail.settle(_SECONDS, _MEMORY_BYTES, parent, keep=target.pipe)
            jail.seal()
            names = [name for name, attempt in attempts.items() if _succeeds(attempt)]
            raw = json.dumps({"allowed": names}).encode()
            shared[: len(raw)] = raw
        os._exit(0)
    _wait(pid)
    raw = shared[:].rstrip(b"\0")
    if not raw:
        raise OSError("the jail cannot be entered on this machine")
    return list(json.loads(raw)["allowed"])


def _wait(pid: int) -> None:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, MemoryError):
        return False
    return True


def _attempts(jail: Jail, secret: Path, target: signals.Target) -> Attempts:
    """Return the attempts, which must all fail, by the names that reports use."""
    parent = os.getpid()
    attempts: Attempts = {
        "reading files": secret.read_bytes,
        "writing files": lambda: _write(secret.parent),
        "network": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
        "local sockets": _speak_locally,
        _SIGNALS: lambda: signals.send(target, parent),
        "memory of other processes": lambda: Path(f"/proc/{parent}/mem").open("rb").close(),
    }
    if jail.device != "cuda":
        attempts |= {
            "new processes": _fork,
            "other programs": lambda: subprocess.run(["/bin/true"], check=False),
            "unlimited memory": _hoard,
        }
    return attempts


def _speak_locally() -> None:
    """Connect to an own local socket: a GPU driver may listen, but connecting must fail."""
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as speaker:
        listener.bind(b"")  # Linux chooses an abstract address
        listener.listen()
        speaker.connect(listener.getsockname())


def _write(directory: Path) -> None:
    with tempfile.TemporaryFile(dir=directory) as file:
        file.write(b"x")
        file.flush()


def _fork() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _hoard() -> None:
    try:
        mmap.mmap(-1, 2 * _MEMORY_BYTES).close()
    except ValueError as error:
        raise OSError(errno.ENOMEM, "no room") from error
