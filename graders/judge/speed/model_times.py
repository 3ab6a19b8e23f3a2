"""Times of model solutions, cached for some minutes for all judges of one user on this machine.

Several processes judge a class, and timing a model solution keeps the others off the GPU. So one
measures and the others use its time. A judge that uses it compares its own yardstick, a copy of
constant size, with the yardstick that was timed then (see `gate`).
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

FRESH_SECONDS = 600.0  # how long a time is used again
FOLDER = Path(tempfile.gettempdir()) / f"tilewise-model-times-{os.getuid()}"


@dataclass(frozen=True)
class TimedRun:
    """The times of one solution in milliseconds; `outside_ms` is by the judge's own clock.

    `yard_ms` is the time of the yardstick in the same run. `problem` says why the judge does not
    believe the time. `when` is in seconds since 1970.
    """

    ms: float
    fastest_ms: float
    yard_ms: float
    outside_ms: float
    problem: str = ""
    when: float = 0.0


def key_of(*what: str) -> str:
    """The key of a cached time, from everything it depends on: GPU, driver, source and so on."""
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def keep(key: str, run: TimedRun) -> None:
    """Cache a time for other judges. If that fails they measure it again."""
    with contextlib.suppress(OSError):
        FOLDER.mkdir(mode=0o700, exist_ok=True)
        if not _is_ours(FOLDER):
            return
        with tempfile.NamedTemporaryFile("w", dir=FOLDER, delete=False) as file:
            json.dump(asdict(run), file)
        os.replace(file.name, FOLDER / key)


def find(key: str) -> TimedRun | None:
    """The cached time; None if there is none or it is too old."""
    try:
        if not _is_ours(FOLDER):
            return None
        run = TimedRun(**json.loads((FOLDER / key).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return run if 0 <= time.time() - run.when <= FRESH_SECONDS else None


def _is_ours(folder: Path) -> bool:
    """Whether only this user may write there.

    Any user can make a folder of that name in the temporary directory.
    """
    found = folder.lstat()
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == os.getuid()
        and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )
