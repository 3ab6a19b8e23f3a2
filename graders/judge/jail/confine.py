"""Programs of ours that work on a submission's data, with no more files than they need."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from graders.judge.jail import landlock
from graders.judge.jail.jail import no_new_privileges

# What a program needs to start: its libraries, a shell and the bit bucket.
_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache")))
T = TypeVar("T")


def confined(work: Callable[[], T], programs: Collection[Path], folder: Path) -> T:
    """What `work` returns or raises, run where Landlock lets nothing be opened but a few paths.

    They are the system's programs, the directories `programs`, and `folder` alone for writing.
    Landlock binds a single thread and all that is started from it; so `work` has a thread of
    its own, and the rest of the process stays free. On a kernel without Landlock it just runs:
    the tier of the sandbox says so.
    """
    try:
        rules = landlock.Ruleset()
    except OSError:
        return work()
    rules.allow([*_SYSTEM, *programs], landlock.READ | landlock.EXECUTE)
    rules.allow([Path(os.devnull)], landlock.READ_FILE | landlock.WRITE_FILE)
    rules.allow([folder], landlock.EVERYTHING)
    with ThreadPoolExecutor(1, initializer=_bind, initargs=(rules,)) as thread:
        return thread.submit(work).result()


def _bind(rules: landlock.Ruleset) -> None:
    no_new_privileges()
    rules.restrict()
