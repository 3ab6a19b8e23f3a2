"""The process that worker processes are forked from: torch and the judge are imported once.

Nothing heavy is imported here, so that a command can start it first of all and import what it
needs itself meanwhile.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from functools import cache
from multiprocessing import forkserver, util
from multiprocessing.context import BaseContext

from graders.judge.sandbox import folders

_PRELOADED = ["graders.quick_jsonschema", "graders.grading.parallel", "graders.judge.pipeline"]
_LONGEST_PLACE = 50  # characters; the path of a socket has about 100, and this is its beginning


def context() -> BaseContext:
    """Where worker processes come from."""
    if not _has_room():
        return multiprocessing.get_context("spawn")
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(_PRELOADED)  # without effect once it runs
    return found


@cache
def start() -> None:
    """Let it import in the background; returns at once. Once it runs, nothing is done."""
    if not _has_room():
        return
    context()
    usual, tempfile.tempdir = tempfile.tempdir, str(folders.make())
    util.get_temp_dir()  # asked for once and kept: its socket goes where a killed command's goes
    tempfile.tempdir = usual
    util.Finalize(None, folders.remove_all, exitpriority=-1000)  # after multiprocessing's own
    forkserver.ensure_running()


def _has_room() -> bool:
    return len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_PLACE
