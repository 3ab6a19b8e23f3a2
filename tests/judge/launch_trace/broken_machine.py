"""The warm process of the capture on a machine where what it needs cannot be read in the jail.

It takes the place of `graders.judge.compiling.worker`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from typing import Any

from graders.judge.compiling import worker
from graders.judge.launch_trace import trace_task
from graders.judge.sandbox.serving import Tasks


def _unreadable(request: Mapping[str, Any], write: Callable[[bytes], None]) -> bytes:
    raise ModuleNotFoundError("No module named 'torch._subclasses'")


def prepare(config: Mapping[str, Any], control: socket.socket) -> Tasks:
    """The role of the real process, in which a launcher cannot be run."""
    trace_task.run = _unreadable
    return worker.prepare(config, control)
