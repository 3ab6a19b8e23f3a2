"""Main of the warm process that reads submissions, each in its own fork with limits.

It imports nothing slow and nothing secret. A fork can use only its input file, has no network and
no second process, and ends at its limits on time and memory. `reader` starts it as a script with
a JSON configuration: `{"socket": fd, "root": path, "seconds": s, "bytes": n, "patience": s}`.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

# What Python imports lazily while parsing: a fork cannot open files any more.
_IMPORTED_BEFOREHAND = ("unicodedata", "stringprep", "traceback")
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_NOBODY = 65_534
_libc = ctypes.CDLL(None, use_errno=True)
_SAMPLE = b"""
import torch
import triton.language as tl
N: int = 4
@tl.jit
def kernel(x_ptr, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    tl.store(x_ptr + offsets, 1.5, mask=(offsets < n) & (n[None, :] == "x"))
def sample(x):
    out = [torch.empty_like(x) for _ in range(N)]
    kernel[(N,)](x, *out, B=2)
    return f"{out}"
"""
_SAMPLE_REQUEST = {
    "launcher": "sample",
    "parameters": ["x"],
    "lesson": "",
    "notebook": False,
    "encoded": True,
}
Operations = Mapping[str, Callable[[bytes, Mapping[str, Any]], dict[str, Any]]]


def main() -> None:
    config = json.loads(sys.argv[1])
    sys.path.insert(0, config["root"])
    from graders.judge.jail import imports
    from graders.judge.submission.given_cells import fingerprints
    from graders.judge.submission.operations import OPERATIONS

    imports.codecs()
    imports.import_all(_IMPORTED_BEFOREHAND)
    fingerprints()
    gc.collect()
    gc.freeze()  # forks share these pages
    with socket.socket(fileno=config["socket"]) as control, contextlib.suppress(ConnectionError):
        _Warm(config, control, OPERATIONS).serve()


class _Warm:
    """Serves one request after the other, until the judge closes its end."""

    def __init__(
        self, config: Mapping[str, Any], control: socket.socket, operations: Operations
    ) -> None:
        self._config = config
        self._control = control
        self._operations = operations
        self._rules, self._filter = _layers()

    def serve(self) -> None:
        from graders.judge.sandbox.prefork_pool import DESCRIPTORS, MESSAGE_BYTES, PreforkPool

        forks = PreforkPool(self._work, self._control, self._rehearse)
        while True:
            forks.prepare()
            message, descriptors, *_ = socket.recv_fds(self._control, MESSAGE_BYTES, DESCRIPTORS)
            if not message:
                return
            pid = forks.hand_over(message, descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            self._control.send(json.dumps(self._wait(pid)).encode())

    def _rehearse(self, _channel: socket.socket) -> None:
        """Touch the pages that reading writes to, so that no request waits for their copies."""
        gc.disable()  # it would copy all shared pages; memory is limited anyway
        self._operations["slice"](_SAMPLE, _SAMPLE_REQUEST)

    def _work(self, message: bytes, descriptors: list[int], _parent: int) -> None:
        """Read one file, in a fork."""
        self._read(json.loads(message), *descriptors)

    def _wait(self, pid: int) -> dict[str, Any]:
        """Return how the fork ended, what it used, and whether we ended it after our patience."""
        exited = os.pidfd_open(pid)
        started, patient = time.monotonic(), True
        poll = select.poll()
        poll.register(exited, select.POLLIN)
        if not poll.poll(self._config["patience"] * 1000):
            patient = False
            os.kill(pid, signal.SIGKILL)
        os.close(exited)
        _, status, used = os.wait4(pid, 0)
        return {
            "status": status,
            "patient": patient,
            "seconds": time.monotonic() - started,
            "processor": used.ru_utime + used.ru_stime,
            "bytes": used.ru_maxrss * 1024,
        }

    def _read(self, request: Mapping[str, Any], data: int, answer: int) -> None:
        """In the fork: enter the limits, read, answer."""
        self._bind(data, answer)
        try:
            told = self._told(request, data)
        except MemoryError:
            told = {"limit": "memory"}
        except BaseException as error:
            told = {"fault": _where(error)}
        with os.fdopen(answer, "wb") as out:
            out.write(json.dumps(told).encode())
        os._exit(0)

    def _told(self, request: Mapping[str, Any], data: int) -> dict[str, Any]:
        from graders.judge.submission.refusals import SubmissionError

        try:
            held = os.pread(data, os.fstat(data).st_size, 0)
            return {"found": self._operations[request["operation"]](held, request)}
        except SubmissionError as error:
            return {"refused": vars(error.refusal)}

    def _bind(self, *kept: int) -> None:
        """Close every other file, then give up permanently what reading does not need."""
        rules = () if self._rules is None else (self._rules.fd,)
        last = 2
        for descriptor in sorted((*kept, *rules)):
            os.closerange(last + 1, descriptor)
            last = descriptor
        os.closerange(last + 1, 1 << 20)
        seconds, size = self._config["seconds"], self._config["bytes"]
        limits = {
            resource.RLIMIT_CPU: seconds,
            resource.RLIMIT_AS: size,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_FSIZE: 0,
            resource.RLIMIT_NPROC: 0,
        }
        for which, value in limits.items():
            _, most = resource.getrlimit(which)
            least = value if most == resource.RLIM_INFINITY else min(value, most)
            resource.setrlimit(which, (least, least))
        if os.getuid() == 0:
            with contextlib.suppress(OSError):
                os.setgroups([])
                os.setresgid(_NOBODY, _NOBODY, _NOBODY)
                os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # the change of user cleared it
        _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if self._rules is not None:
            self._rules.restrict()
        if self._filter is not None:
            self._filter.apply()


def _layers() -> tuple[Any, Any]:
    """Return a Landlock ruleset without paths, and a system call filter; None if missing."""
    from graders.judge.jail import landlock, seccomp

    try:
        rules = landlock.Ruleset()
    except OSError:
        rules = None
    try:
        calls = seccomp.computing(may_open=False)
    except (ImportError, OSError, RuntimeError, ValueError):
        calls = None
    return rules, calls


def _where(error: BaseException) -> str:
    """Return an error's type and our line that raised it, without its text."""
    trace = error.__traceback__
    place = ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if "/graders/" in name:
            place = f" at {name.rpartition('/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{place}"


if __name__ == "__main__":
    main()
