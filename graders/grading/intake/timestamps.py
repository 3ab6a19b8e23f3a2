"""Reads and writes nbgrader's timestamp.txt: when a notebook was handed in, for penalties."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

TIMESTAMP = "timestamp.txt"
LONGEST = 100  # bytes
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d* ?(UTC|Z|[+-]\d\d:?\d\d)?\Z"
)


def parse(text: str) -> datetime:
    """Parse the time from this file or from Gradescope's metadata; ValueError if it is not one."""
    found = _TIME.match(text.strip())
    if found is None:
        raise ValueError(f"no time: {text[:LONGEST]!r}")
    zone = found[3] if found[3] and found[3] not in ("UTC", "Z") else "+00:00"
    try:
        return datetime.fromisoformat(f"{found[1]}T{found[2]}{zone}").astimezone(UTC)
    except OverflowError as error:
        raise ValueError("no time") from error


def write(folder: Path, time: datetime) -> None:
    """Write when the notebook in `folder` was handed in."""
    seconds = "%H:%M:%S.%f" if time.microsecond else "%H:%M:%S"
    text = f"{time.astimezone(UTC):%Y-%m-%d {seconds}} UTC"
    (folder / TIMESTAMP).write_text(text, encoding="utf-8")


def read(folder: Path) -> datetime | None:
    """Return when the notebook in `folder` was handed in; None if that is not known."""
    try:
        with open(folder / TIMESTAMP, encoding="utf-8", errors="replace") as file:
            return parse(file.read(LONGEST))
    except (OSError, ValueError):
        return None


def forget(folder: Path) -> None:
    """Remove the timestamp of an earlier notebook."""
    (folder / TIMESTAMP).unlink(missing_ok=True)
