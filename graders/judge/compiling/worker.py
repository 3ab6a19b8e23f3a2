"""The role of the warm process that has Triton as a compiler, without its interpreter.

Its forks capture launchers, compile kernels and call plain functions. For a plain function, the
report's channel also carries answers.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from graders.judge.calling import call_task
from graders.judge.compiling import compile_task
from graders.judge.jail import imports
from graders.judge.jail.jail import Jail
from graders.judge.launch_trace import trace_task
from graders.judge.sandbox.serving import TaskHandler, Tasks, Write
from triton_util.explain import launches, lowering, offline

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


def prepare(config: Mapping[str, Any], control: socket.socket) -> Tasks:
    """Warm up, and return the role."""
    greeting = _warm_up()
    inside = Jail(readable=[Path(config["root"]) / "triton_util"])
    tasks = {"capture": trace_task, "compile": compile_task, "call": call_task}
    made = {name: _task(module) for name, module in tasks.items()}
    return Tasks(control, greeting, made, inside, MEMORY_BYTES)


def _task(module: ModuleType) -> TaskHandler:
    """Return the task whose data is a request in JSON."""

    def run(data: bytes, _asked: Mapping[str, Any], write: Write) -> bytes:
        answer: bytes = module.run(json.loads(data), write)
        return answer

    return TaskHandler(run, module.before_jail)


def _warm_up() -> dict[str, Any]:
    """Compile one kernel per target, so that no submission pays for one-time work.

    This also records how this version of Triton calls ptxas, so that the judge can do the same.
    """
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
    return {"ptxas": commands}
