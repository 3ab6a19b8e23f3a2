"""The process that worker processes are forked from: torch and the judge are imported once.

Nothing heavy is imported here, so that a command can start it first of all and import what it
needs itself meanwhile.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext

_PRELOADED = ["graders.classroom.parallel", "graders.judge.pipeline"]


def context() -> ForkServerContext:
    """Where worker processes come from."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(_PRELOADED)  # without effect once it runs
    return found


def start() -> None:
    """Let it import in the background; returns at once."""
    context()
    forkserver.ensure_running()
