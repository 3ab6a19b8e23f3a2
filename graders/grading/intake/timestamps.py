"""nbgrader's timestamp.txt beside a notebook: when it was handed in, by which penalties go."""

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
    """The time in such a file, or in Gradescope's metadata; a ValueError where it is none."""
    found = _TIME.match(text.strip())
    if found is None:
        raise ValueError(f"no time: {text[:LONGEST]!r}")
    zone = found[3] if found[3] and found[3] not in ("UTC", "Z") else "+00:00"
    try:
        return datetime.fromisoformat(f"{found[1]}T{found[2]}{zone}").astimezone(UTC)
    except OverflowError as error:
        raise ValueError("no time") from error


def write(folder: Path, time: datetime) -> None:
    """Say beside the notebook in `folder` when it came."""
    seconds = "%H:%M:%S.%f" if time.microsecond else "%H:%M:%S"
    text = f"{time.astimezone(UTC):%Y-%m-%d {seconds}} UTC"
    (folder / TIMESTAMP).write_text(text, encoding="utf-8")


def forget(folder: Path) -> None:
    """Remove what an earlier notebook left there."""
    (folder / TIMESTAMP).unlink(missing_ok=True)
