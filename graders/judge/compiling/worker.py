"""Main of the compile gate's warm process: Triton as a compiler, without its interpreter.

Imports and warms up once, then forks one jailed child per submission and relays what it says.
Requests and answers go over a socket, each as its length (8 bytes) and JSON; an answer is
followed by the child's report and the tail of its stderr, as raw bytes.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

REPORT_LIMIT = 32 << 20  # bytes of a report; PTX of a few kernels is far below
STDERR_LIMIT = 8_000
WALL_FACTOR = 3.0  # a busy machine gives a process a part of its time
TICK_SECONDS = 0.025  # how often the limits are looked at
RESIDENT_BYTES = 3 << 30  # of memory that is really used
MEMORY_BYTES = 20 << 30  # of address space: pretended inputs reserve much and touch nothing

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
            import unicodedata  # noqa: F401 - Python's parser asks for it at a name like `größe`

            from graders.judge.compiling import child
            from graders.judge.sandbox.jail import Jail

            hello = {"ready": True, **_warm_up()}
            jail = Jail(device="cpu", readable=[Path(__file__).parents[3] / "triton_util"])
            hello["layers"] = jail.layers
        except Exception as error:  # the judge must hear of it in one line
            send(control, {"ready": False, "error": f"{type(error).__name__}: {error}"})
            return
        send(control, hello)
        try:
            with contextlib.suppress(ConnectionError):
                _serve(child, jail, control)
        finally:  # for the judge, which may have been killed
            shutil.rmtree(os.environ["TRITON_CACHE_DIR"], ignore_errors=True)


def _serve(child: Any, jail: Any, control: socket.socket) -> None:
    """Answer requests until the judge is gone."""
    while True:
        request = receive(control)
        if request is None:
            return
        answer, report, stderr = _compile(child, jail, request, control)
        send(control, answer)
        control.sendall(report + stderr)


def send(control: socket.socket, message: dict[str, Any]) -> None:
    """Length and JSON."""
    data = json.dumps(message).encode()
    control.sendall(len(data).to_bytes(8, "little") + data)


def receive(control: socket.socket) -> dict[str, Any] | None:
    """The other side's next message; None when it has closed."""
    size = receive_bytes(control, 8)
    if size is None:
        return None
    data = receive_bytes(control, int.from_bytes(size, "little"))
    return json.loads(data) if data is not None else None


def receive_bytes(control: socket.socket, count: int) -> bytes | None:
    """Exactly `count` bytes; None when the other side closes first."""
    data = bytearray()
    while len(data) < count:
        part = control.recv(min(count - len(data), 1 << 20))
        if not part:
            return None
        data += part
    return bytes(data)


def _warm_up() -> dict[str, Any]:
    """Compile one kernel per target, so that no submission pays for what is done once.

    Meanwhile learn how this version of Triton calls ptxas: the judge will do the same.
    """
    import torch

    from triton_util.explain import launches, lowering, offline

    torch.set_num_threads(1)
    offline.install()
    _import_helpers()
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


def _import_helpers() -> None:
    """The course's helpers for kernels; in the jail their files could not be read."""
    import importlib

    names = ("triton.language.extra.cuda.libdevice", "triton.tools.tensor_descriptor")
    for name in (*names, "triton_util.debugging", "triton_util.indexing", "triton_util.launching"):
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # an optional part, or a version that has it elsewhere


def _compile(
    child: Any, jail: Any, request: dict[str, Any], control: socket.socket
) -> tuple[dict[str, Any], bytes, bytes]:
    """Fork, watch, collect."""
    report_end, child_report = os.pipe()
    error_end, child_error = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(child_report, 1)
            os.dup2(child_error, 2)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            control.detach()
            child.limit_recording()
            jail.enter(request["cpu_seconds"], MEMORY_BYTES, parent)
            os.write(1, b"J")  # jailed: from here on what goes wrong is the submission's
            _write(child.run(request))
            os._exit(0)
        except BaseException as error:
            os.write(2, f"\n{type(error).__name__}: {error}".encode()[:STDERR_LIMIT])
        finally:  # whatever it was, this process must not go on as a warm one
            os._exit(1)
    os.close(child_report)
    os.close(child_error)
    seconds = WALL_FACTOR * request["cpu_seconds"] + 5.0
    report, stderr, ended = _collect(report_end, error_end, pid, seconds, control)
    _, status = os.waitpid(pid, 0)
    answer = {
        "timeout": ended == "time" or (not ended and _out_of_time(status)),
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1,
        "report": len(report),
        "stderr": len(stderr),
    }
    return answer, report, stderr


def _out_of_time(status: int) -> bool:
    """The kernel ends a process at its limit of CPU time by one of two signals."""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _collect(
    report_end: int, error_end: int, pid: int, seconds: float, control: socket.socket
) -> tuple[bytes, bytes, str]:
    """Read both pipes to their end, or end the child at a limit: "time", "size" or "memory".

    Or because the judge is "gone": it says nothing while it waits for an answer.
    """
    kept = {report_end: bytearray(), error_end: bytearray()}
    deadline = time.monotonic() + seconds
    ended = ""
    with selectors.DefaultSelector() as selector:
        for end in kept:
            selector.register(end, selectors.EVENT_READ)
        selector.register(control, selectors.EVENT_READ)
        while len(selector.get_map()) > 1:
            ready = selector.select(TICK_SECONDS)
            ended = _over_limit(pid, len(kept[report_end]), deadline)
            if any(key.fileobj is control for key, _ in ready):
                ended = "gone"
            if ended:
                os.kill(pid, signal.SIGKILL)
                break
            for key, _ in ready:
                data = os.read(key.fd, 1 << 20)
                kept[key.fd] += data
                del kept[error_end][:-STDERR_LIMIT]
                if not data:
                    selector.unregister(key.fd)
    for end in kept:
        os.close(end)
    return bytes(kept[report_end]), bytes(kept[error_end]), ended


def _over_limit(pid: int, size: int, deadline: float) -> str:
    from graders.judge.sandbox.jail import resident_bytes

    if time.monotonic() > deadline:
        return "time"
    if size > REPORT_LIMIT:
        return "size"
    return "memory" if resident_bytes(pid) > RESIDENT_BYTES else ""


if __name__ == "__main__":
    main()
