"""The role of the warm process that reads submissions.

It imports nothing slow and nothing secret. A fork can use only its file: it opens no other one, has
no network and no second process, and ends at its limits on time and memory.
"""

from __future__ import annotations

import gc
import json
import socket
from collections.abc import Callable, Mapping
from typing import Any

from graders.judge.jail import imports
from graders.judge.jail.jail import Jail, address_space
from graders.judge.sandbox.serving import TaskHandler, Tasks, Write
from graders.judge.submission.files import MEMORY_BYTES
from graders.judge.submission.given_cells import fingerprints
from graders.judge.submission.operations import OPERATIONS
from graders.judge.submission.refusals import SubmissionError

# What Python imports lazily while parsing: a fork cannot open files any more.
_IMPORTED_BEFOREHAND = ("unicodedata", "stringprep", "traceback")
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


def prepare(_config: Mapping[str, Any], control: socket.socket) -> _Reading:
    """Import and load what reading needs, and return the role."""
    imports.codecs()
    imports.import_all(_IMPORTED_BEFOREHAND)
    fingerprints()
    tasks = {name: TaskHandler(_answering(operation)) for name, operation in OPERATIONS.items()}
    left = MEMORY_BYTES - address_space()
    return _Reading(control, {}, tasks, Jail(opens_files=False), left)


class _Reading(Tasks):
    def rehearse(self, channel: socket.socket) -> None:
        """Touch the pages that reading writes to, so that no request waits for their copies."""
        gc.disable()  # it would copy all shared pages; memory is limited anyway
        OPERATIONS["slice"](_SAMPLE, _SAMPLE_REQUEST)


def _answering(
    operation: Callable[[bytes, Mapping[str, Any]], dict[str, Any]],
) -> Callable[[bytes, Mapping[str, Any], Write], bytes]:
    """Return the task that does an operation, and says what it found or why it found nothing."""

    def run(data: bytes, asked: Mapping[str, Any], _write: Write) -> bytes:
        try:
            told: dict[str, Any] = {"found": operation(data, asked)}
        except SubmissionError as error:
            told = {"refused": error.finding.to_json()}
        except MemoryError:
            told = {"limit": "memory"}
        except BaseException as error:
            told = {"fault": _where(error)}
        return json.dumps(told).encode()

    return run


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
