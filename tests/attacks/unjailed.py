"""The warm process of the capture without its jail: attacks must succeed there.

It takes the place of `graders.judge.compiling.worker`.
"""

from __future__ import annotations

import socket
from collections.abc import Collection, Mapping
from typing import Any

from graders.judge.compiling import worker
from graders.judge.compiling.process import CompileWorker
from graders.judge.jail.jail import Jail
from graders.judge.sandbox.serving import Tasks


class Unjailed(CompileWorker):
    """Captures launchers with nothing between them and the machine."""

    module = "tests.attacks.unjailed"


def _stays_outside(
    self: Jail, cpu_seconds: float, memory_bytes: int, parent: int, keep: Collection[int] = ()
) -> None:
    """In the place of `Jail.enter`."""


def prepare(config: Mapping[str, Any], control: socket.socket) -> Tasks:
    """The role of the real process, whose forks do not enter the jail."""
    Jail.enter = _stays_outside  # type: ignore[method-assign]
    return worker.prepare(config, control)
