"""The process that worker processes are forked from: torch and the judge are imported once.

Nothing heavy is imported here, so that a command can start it first of all and import what it
needs itself meanwhile.
"""

from __future__ import annotations

import atexit
import multiprocessing
import tempfile
from multiprocessing import forkserver, util
from multiprocessing.context import ForkServerContext

from graders.judge.workers import folders

_PRELOADED = ["graders.classroom.parallel", "graders.judge.pipeline"]


def context() -> ForkServerContext:
    """Where worker processes come from."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(_PRELOADED)  # without effect once it runs
    return found


def start() -> None:
    """Let it import in the background; returns at once."""
    context()
    usual, tempfile.tempdir = tempfile.tempdir, str(folders.make())
    util.get_temp_dir()  # asked for once and kept: its socket goes where a killed command's goes
    tempfile.tempdir = usual
    atexit.register(folders.remove_all)
    forkserver.ensure_running()
