"""All ways to send another process a signal, for the probe, and a target process for them.

Besides kill and similar calls, a file can be set to signal its owner when it changes, and any
process can be named as the owner. Without Landlock's scope, only the filter of system calls
protects the other processes of the jail's user, so the probe tries each way.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import struct
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from graders.judge.jail import seccomp
from graders.judge.jail.jail import Jail, die_with

_SECONDS = 60.0
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _O_ASYNC = 8, 10, 15, 0x2000
_FIOASYNC, _FIOSETOWN, _SIOCSPGRP = 0x5452, 0x8901, 0x8902
_F_OWNER_PID = 1
_PIDFD_SEND_SIGNAL, _PIDFD_OPEN = 424, 434  # the same numbers on every architecture
_libc = ctypes.CDLL(None, use_errno=True)


class Target:
    """A process of the jail's user, outside the jail, in which signals stay pending.

    `pipe` are the two ends of a pipe that stays open in the jailed process.
    """

    def __init__(self, jail: Jail) -> None:
        self.pipe = os.pipe()
        ready, tell = os.pipe()
        parent = os.getpid()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _be_target(jail, parent, tell)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(tell)
        os.read(ready, 1)  # now it is the jail's user, or gone
        os.close(ready)

    def was_reached(self) -> bool:
        """Whether a signal is pending there; also True if the process is gone."""
        try:
            text = Path(f"/proc/{self.pid}/status").read_text()
        except OSError:
            return True
        fields = dict(line.split(":", 1) for line in text.splitlines())
        return any(int(fields[name], 16) for name in ("SigPnd", "ShdPnd"))

    def __enter__(self) -> Target:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        for end in self.pipe:
            os.close(end)


def _be_target(jail: Jail, parent: int, tell: int) -> None:
    with contextlib.suppress(BaseException):
        jail.change_user()
        die_with(parent)
        os.write(tell, b"x")
        os.close(tell)
        time.sleep(_SECONDS)
    os._exit(0)


def send(target: Target, parent: int) -> None:
    """Try every way to signal the target, and the parent. Raises OSError if none seems to work.

    Only the target knows whether a file has sent its signal: see `Target.was_reached`.
    """
    reached = [way for way in _ways(target.pid, parent) if _works(way)]
    for owned in _owners(target.pid, target.pipe[0]):
        for asked in _asked(target.pipe[0]):
            if _works(owned) and _works(asked):
                os.write(target.pipe[1], b"x")
                _works(lambda: os.read(target.pipe[0], 1))
    if not reached:
        raise OSError("no signal could be sent")


def _works(way: Callable[[], object]) -> bool:
    try:
        way()
    except OSError:
        return False
    return True


def _ways(pid: int, parent: int) -> tuple[Callable[[], object], ...]:
    """Return ways to send a signal directly. Signal 0 only checks whether it is possible."""
    return (
        lambda: os.kill(pid, 0),
        lambda: os.kill(parent, 0),
        lambda: os.killpg(os.getpgid(parent), 0),
        lambda: _called("tgkill", pid, pid, signal.SIGURG),
        lambda: _called("tkill", pid, signal.SIGURG),
        lambda: _called("rt_sigqueueinfo", pid, signal.SIGURG, _information()),
        lambda: _called("rt_tgsigqueueinfo", pid, pid, signal.SIGURG, _information()),
        lambda: _by_descriptor(pid),
    )


def _information() -> ctypes.Array[ctypes.c_char]:
    """Return a siginfo as sigqueue sends it: its number, errno, code SI_QUEUE."""
    return ctypes.create_string_buffer(struct.pack("iii", signal.SIGURG, 0, -1), 128)


def _by_descriptor(pid: int) -> None:
    descriptor = _number_called(_PIDFD_OPEN, pid, 0)
    _number_called(_PIDFD_SEND_SIGNAL, descriptor, signal.SIGURG, None, 0)


def _called(name: str, *arguments: object) -> int:
    try:
        number = seccomp.number(name)
    except (ImportError, ValueError, RuntimeError) as error:
        raise OSError(f"no number is known of {name}") from error
    return _number_called(number, *arguments)


def _number_called(number: int, *arguments: object) -> int:
    sent = [ctypes.c_long(int(a)) if isinstance(a, int) else a for a in arguments]
    result = int(_libc.syscall(ctypes.c_long(number), *sent))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _owners(pid: int, file: int) -> tuple[Callable[[], object], ...]:
    """Return ways to set the process that a file signals."""
    word = struct.pack("i", pid)
    return (
        lambda: fcntl.fcntl(file, _F_SETOWN, pid),
        lambda: _called("fcntl", file, _F_SETOWN | 1 << 32, pid),  # the kernel drops the upper half
        lambda: fcntl.fcntl(file, _F_SETOWN_EX, struct.pack("ii", _F_OWNER_PID, pid)),
        lambda: fcntl.ioctl(file, _FIOSETOWN, word),
        lambda: fcntl.ioctl(file, _SIOCSPGRP, word),
    )


def _asked(file: int) -> tuple[Callable[[], object], ...]:
    """Return ways to request a signal when the file changes."""
    return (
        lambda: fcntl.fcntl(file, fcntl.F_SETFL, _O_ASYNC | os.O_NONBLOCK),
        lambda: (
            fcntl.fcntl(file, _F_SETSIG, signal.SIGURG),
            fcntl.fcntl(file, fcntl.F_SETFL, _O_ASYNC | os.O_NONBLOCK),
        ),
        lambda: fcntl.ioctl(file, _FIOASYNC, struct.pack("i", 1)),
    )
