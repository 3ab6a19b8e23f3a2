"""The times of model solutions, which all judges of a user on this machine share for a while.

A class is judged by several processes, and each time of a model solution keeps everybody else off
the GPU. Whoever uses one holds a yardstick of his own beside it (see `gate`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

FRESH_SECONDS = 600.0  # for which a time is used again
FOLDER = Path(tempfile.gettempdir()) / f"tilewise-model-times-{os.getuid()}"


@dataclass(frozen=True)
class TimedRun:
    """One solution as it was timed; milliseconds. `outside_ms` is by the judge's own clock.

    `problem` says why it is not believed; `when` is seconds since 1970.
    """

    ms: float
    fastest_ms: float
    yard_ms: float
    outside_ms: float
    problem: str = ""
    when: float = 0.0


def key_of(*what: str) -> str:
    """The key of a time: of everything that it depends on, as GPU, driver and source."""
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def keep(key: str, run: TimedRun) -> None:
    """Keep a time; where that is not possible it is only known to who measured it."""
    with contextlib.suppress(OSError):
        FOLDER.mkdir(mode=0o700, exist_ok=True)
        if not _is_ours(FOLDER):
            return
        with tempfile.NamedTemporaryFile("w", dir=FOLDER, delete=False) as file:
            json.dump(asdict(run), file)
        os.replace(file.name, FOLDER / key)


def find(key: str) -> TimedRun | None:
    """A time that is fresh; None where there is none."""
    try:
        if not _is_ours(FOLDER):
            return None
        run = TimedRun(**json.loads((FOLDER / key).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return run if 0 <= time.time() - run.when <= FRESH_SECONDS else None


def _is_ours(folder: Path) -> bool:
    """Whether nobody else may write there: the directory above is open to everybody."""
    found = folder.lstat()
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == os.getuid()
        and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )
