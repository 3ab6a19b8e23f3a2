"""The process from which workers are forked, so torch and the judge are imported only once.

This module imports nothing slow, so a command can start the process first, and do its own
imports meanwhile.
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
_LONGEST_PLACE = 50  # characters; a socket's path may have about 100, and begins with this


def context() -> BaseContext:
    """Return the multiprocessing context that forks workers from this process."""
    if not _has_room():
        return multiprocessing.get_context("spawn")
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(_PRELOADED)  # no effect once it runs
    return found


@cache
def start() -> None:
    """Start the process in the background and return at once; no effect if it already runs."""
    if not _has_room():
        return
    context()
    usual, tempfile.tempdir = tempfile.tempdir, str(folders.make())
    util.get_temp_dir()  # fixed by the first call; cleaned up even if the command is killed
    tempfile.tempdir = usual
    util.Finalize(None, folders.remove_all, exitpriority=-1000)  # after multiprocessing's own
    forkserver.ensure_running()


def _has_room() -> bool:
    return len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_PLACE
