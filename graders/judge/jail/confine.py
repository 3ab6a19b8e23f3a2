"""Runs trusted programs, such as ptxas, on a submission's data without access to other files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from graders.judge.jail import landlock
from graders.judge.jail.jail import no_new_privileges

# What a program needs to start: its libraries, a shell and /dev/null.
_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache")))
T = TypeVar("T")


def confined(work: Callable[[], T], programs: Collection[Path], folder: Path) -> T:
    """Call `work` with access to few paths only; return or raise what it returns or raises.

    It can read the system's programs and the directories `programs`, and write to `folder`.
    Landlock restricts a single thread and the processes that it starts. So `work` runs in a new
    thread, and the rest of the process stays unrestricted. Without Landlock `work` runs
    unconfined, which the sandbox's tier reports.
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
