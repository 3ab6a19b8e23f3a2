"""The warm process of the capture without its jail: attacks must succeed there.

Run as a program in the place of `graders.judge.compiling.worker`.
"""

from __future__ import annotations

from graders.judge.compiling import worker
from graders.judge.compiling.process import CompileWorker
from graders.judge.jail.jail import Jail


class Unjailed(CompileWorker):
    """Captures launchers with nothing between them and the machine."""

    module = "tests.attacks.unjailed"


def _stays_outside(self: Jail, cpu_seconds: float, memory_bytes: int, parent: int) -> None:
    """In the place of `Jail.enter`."""


if __name__ == "__main__":
    Jail.enter = _stays_outside  # type: ignore[method-assign]
    worker.main()
