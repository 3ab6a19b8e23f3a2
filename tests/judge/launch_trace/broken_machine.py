"""The warm process of the capture on a machine where what it needs cannot be read in the jail.

Run as a program in the place of `graders.judge.compiling.worker`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graders.judge.compiling import worker
from graders.judge.launch_trace import trace_task


def _unreadable(request: Mapping[str, Any], write: Callable[[bytes], None]) -> bytes:
    raise ModuleNotFoundError("No module named 'torch._subclasses'")


if __name__ == "__main__":
    trace_task.run = _unreadable
    worker.main()
