"""Run trusted programs, such as ptxas, on a submission's data without access to other files."""

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
    """Call `work` where Landlock opens only a few paths; return or raise what it does.

    Readable are the system's programs and the directories `programs`; writable is `folder`.
    Landlock binds a single thread and the processes that it starts. So `work` runs in a thread of
    its own, and the rest of the process stays free. Without Landlock it runs unconfined, and the
    tier of the sandbox says so.
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
