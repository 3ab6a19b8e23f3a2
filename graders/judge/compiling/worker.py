"""Main of the warm process that has Triton as a compiler, without its interpreter.

It captures launchers, compiles kernels and calls plain functions. It imports and warms up once.
Before each request comes, it forks one jailed child, and then watches it. A request has three
descriptors, which only the child uses: it reads the request from one, and writes its report and
its errors to the others. If a plain function is called, the report's channel also carries answers.
So the next child inherits no data of an earlier submission. An answer says how the child ended:
its length (8 bytes) and JSON.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import selectors
import shutil
import signal
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graders.judge.sandbox.prefork_pool import PreforkPool

STDERR_LIMIT = 8_000
TOO_MUCH = b"."  # the judge's message about a report that is too long
DESCRIPTORS = 3  # the request, and where report and errors go
WALL_FACTOR, START_SECONDS = 6.0, 15.0  # on a busy machine a process gets part of the CPU
TICK_SECONDS = 0.025  # how often the limits are checked
RESIDENT_BYTES = 3 << 30  # of memory that is actually used
MEMORY_BYTES = 20 << 30  # of address space: fake inputs reserve much but touch nothing

_IMPORTED_BEFOREHAND = (
    *("triton.language.extra.cuda.libdevice", "triton.tools.tensor_descriptor", "triton.testing"),
    *("triton_util.debugging", "triton_util.indexing", "triton_util.launching"),
    *("numpy", "numpy.testing", "torch.nn.functional", "torch.testing", "torch.nn"),
    "torch._subclasses.schema_check_mode",  # the first operation under a mode imports it
    "typing_extensions",
)
_WARM_UP = '''
import torch, triton
import triton.language as tl
@triton.jit
def warm_kernel(x_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    acc = tl.dot(tl.reshape(x, (16, 16)), tl.reshape(x, (16, 16)))
    tl.store(out_ptr + offsets, tl.exp(x) + tl.reshape(acc, (256,)) + tl.sum(x, axis=0), mask=mask)
def warm(x):
    out = torch.empty_like(x)
    warm_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK_SIZE=256)
    return out
'''  # fmt: skip


def main() -> None:
    """Serve until the judge closes its end."""
    with socket.socket(fileno=int(sys.argv[1])) as control:
        try:
            from graders.judge.calling import call_task as calling
            from graders.judge.compiling import compile_task as compiling
            from graders.judge.jail.jail import Jail
            from graders.judge.launch_trace import trace_task as capturing
            from graders.judge.sandbox.prefork_pool import PreforkPool

            hello = {"ready": True, **_warm_up()}
            jail = Jail(device="cpu", readable=[Path(__file__).parents[3] / "triton_util"])
            hello["layers"] = jail.layers
            tasks = {"capture": capturing, "compile": compiling, "call": calling}
            forks = PreforkPool(_Child(tasks, jail), control)
            gc.collect()
            gc.freeze()  # forks share these pages
        except Exception as error:  # report it to the judge in one line
            send(control, {"ready": False, "error": f"{type(error).__name__}: {error}"})
            return
        send(control, hello)
        try:
            with contextlib.suppress(ConnectionError):
                _serve(forks, control)
        finally:  # the judge may have been killed
            shutil.rmtree(os.environ["TRITON_CACHE_DIR"], ignore_errors=True)


def _serve(forks: PreforkPool, control: socket.socket) -> None:
    """Answer requests until the judge is gone."""
    while True:
        forks.prepare()
        received = receive_request(control)
        if received is None:
            return
        message, descriptors = received
        limits = json.loads(message)
        try:
            pid = forks.hand_over(message, descriptors)
            forks.prepare(without=descriptors)
            answer = _answer(pid, limits, control, descriptors[1:])
        finally:  # the child is dead: the judge sees the end of the file
            for descriptor in descriptors:
                with contextlib.suppress(OSError):
                    os.close(descriptor)
        send(control, answer)


def send_request(
    control: socket.socket,
    limits: dict[str, Any],
    request: dict[str, Any],
    report: int,
    errors: int,
) -> None:
    """Send the limits to the warm process, with three descriptors for its child:
    the request, and where the child writes its report and its errors."""
    memory = os.memfd_create("tilewise-request", os.MFD_CLOEXEC)
    try:
        data = memoryview(json.dumps(request).encode())
        while data:
            data = data[os.write(memory, data) :]
        socket.send_fds(control, [json.dumps(limits).encode()], [memory, report, errors])
    finally:
        os.close(memory)


def receive_request(control: socket.socket) -> tuple[bytes, list[int]] | None:
    """Return the limits of the next request and its descriptors; None if the judge has closed."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 4096, DESCRIPTORS)
        if not data:
            return None
        data = data.lstrip(TOO_MUCH)  # about a child that had already ended
        if data:
            return data, descriptors


def send(control: socket.socket, message: dict[str, Any]) -> None:
    """Send a message, as its length and JSON."""
    data = json.dumps(message).encode()
    control.sendall(len(data).to_bytes(8, "little") + data)


def receive(control: socket.socket) -> dict[str, Any] | None:
    """Return the other side's next message; None if it has closed."""
    size = receive_bytes(control, 8)
    if size is None:
        return None
    data = receive_bytes(control, int.from_bytes(size, "little"))
    return json.loads(data) if data is not None else None


def receive_bytes(control: socket.socket, count: int) -> bytes | None:
    """Return exactly `count` bytes; None if the other side closes first."""
    data = bytearray()
    while len(data) < count:
        part = control.recv(min(count - len(data), 1 << 20))
        if not part:
            return None
        data += part
    return bytes(data)


def _warm_up() -> dict[str, Any]:
    """Compile one kernel per target, so that no submission pays for one-time work.

    This also records how this version of Triton calls ptxas, so that the judge can do the same.
    """
    import torch

    from graders.judge.jail import imports
    from triton_util.explain import launches, lowering, offline

    torch.set_num_threads(1)
    offline.install()
    imports.standard_library()
    imports.import_all(_IMPORTED_BEFOREHAND)
    recorder = launches.Recorder("<warm>")
    with recorder.installed():
        launches.load_module(_WARM_UP, "<warm>").warm(torch.empty(256))
    launch = next(iter(recorder.launches.values()))
    commands = {}
    for arch in launches.TARGETS:
        ptx, metadata = lowering.to_ptx(launch, arch)
        commands[str(arch)] = lowering.ptxas_command(launch, arch, ptx, metadata)
    sys.modules.pop(launches.MODULE, None)
    return {"triton": lowering.TRITON_VERSION, "ptxas": commands}


class _Child:
    """Runs one task in a fork, in its jail."""

    def __init__(self, tasks: dict[str, Any], jail: Any) -> None:
        self._tasks, self._jail = tasks, jail

    def __call__(self, message: bytes, descriptors: list[int], parent: int) -> None:
        """Do the task of the request and end."""
        request, report, errors = descriptors
        try:
            limits = json.loads(message)
            os.dup2(report, 1)
            os.dup2(errors, 2)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            asked = json.loads(os.pread(request, os.fstat(request).st_size, 0))
            task = self._tasks[limits["task"]]
            task.before_jail()
            self._jail.enter(limits["cpu_seconds"], MEMORY_BYTES, parent)
            os.write(1, b"J")  # jailed: from here on, errors are the submission's
            _write(task.run(asked, _write))
            os._exit(0)
        except BaseException as error:
            os.write(2, f"\n{type(error).__name__}: {error}".encode()[:STDERR_LIMIT])


def _answer(
    pid: int, limits: dict[str, Any], control: socket.socket, ends: list[int]
) -> dict[str, Any]:
    """Watch a fork and send how it ended; its output goes directly to the judge.

    `ends` are where it writes. A called function may wait for the judge's answers.
    """
    seconds = WALL_FACTOR * limits["cpu_seconds"] + START_SECONDS
    ended = _watch(pid, seconds, control, ends, may_sleep=limits["task"] == "call")
    _, status = os.waitpid(pid, 0)
    return {
        "ended": ended,
        "timeout": ended == "time" or (not ended and _out_of_time(status)),
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1,
    }


def _out_of_time(status: int) -> bool:
    """Whether a process exceeded its CPU time: the kernel ends it with one of two signals."""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _watch(
    pid: int, seconds: float, control: socket.socket, ends: list[int], may_sleep: bool
) -> str:
    """Wait for a child, and return why it was ended: "" if it ended by itself.

    "time" and "memory" are its limits; "asleep" means that it waited without computing, "size"
    that its report is too long for the judge, and "gone" that the judge itself has ended.
    """
    from graders.judge.jail.sleep import Sleep

    deadline = time.monotonic() + seconds
    sleep = None if may_sleep else Sleep(pid)
    ended = ""
    exited = os.pidfd_open(pid)
    with selectors.DefaultSelector() as selector:
        selector.register(exited, selectors.EVENT_READ)
        selector.register(control, selectors.EVENT_READ)
        while not ended:
            ready = [key.fileobj for key, _ in selector.select(TICK_SECONDS)]
            if exited in ready:
                break
            if control in ready:
                ended = "size" if control.recv(1) else "gone"
            else:
                ended = _over_limit(pid, deadline)
                if not ended and sleep is not None and sleep.too_long(_is_full(ends)):
                    ended = "asleep"
    os.close(exited)
    if ended:
        os.kill(pid, signal.SIGKILL)
    return ended


def _is_full(ends: list[int]) -> bool:
    """Whether the child may wait for the judge to read what it has written."""
    return len(select.select([], ends, [], 0)[1]) < len(ends)


def _over_limit(pid: int, deadline: float) -> str:
    from graders.judge.jail.jail import resident_bytes

    if time.monotonic() > deadline:
        return "time"
    return "memory" if resident_bytes(pid) > RESIDENT_BYTES else ""


if __name__ == "__main__":
    main()
