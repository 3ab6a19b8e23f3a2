"""Lets one command at a time work on the gradebook of a class."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graders.authoring.refusal import refusal


@contextmanager
def alone(course: Path) -> Iterator[None]:
    """Hold the lock of the class, or raise a GraderError. A killed command releases its lock."""
    folder = course / ".tilewise" / "graded"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise refusal("another `tilewise autograde` works in this course") from error
        yield
