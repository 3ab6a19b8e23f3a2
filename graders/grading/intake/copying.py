"""Copies one file of an import, unless a newer hand-in is already there."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from graders.grading.intake.sources import Package, UnreadableFileError

_BOM = b"\xef\xbb\xbf"
_NO_DATE = 2000  # programs that pack no dates write a year before this one


def kept_because(before: datetime | None, time: datetime | None, source: Package, path: str) -> str:
    """Return why the hand-in of the time `before` stays; "" if it may be replaced.

    `time` is when the file at `path` was handed in. If it is unknown, the file's date counts,
    because a file is never handed in later than that.
    """
    try:
        latest = time or source.time(path)
    except UnreadableFileError:
        return ""
    if before is None or latest >= before or latest.year < _NO_DATE:
        return ""
    return (
        f"it is older than the hand-in of {before:%Y-%m-%d %H:%M} UTC that is there, which stays: "
        "to import it, delete the student's folder in submitted"
    )


def copy_if_changed(
    source: Package, path: str, submitted: Path, target: Path, stays: str = ""
) -> bool:
    """Copy one file without its byte order mark; False if an equal copy is there already.

    Raises UnreadableFileError with the text `stays`, if there is one, before it replaces a file.
    """
    submitted.mkdir(parents=True, exist_ok=True)
    fresh = submitted / ".fresh"  # make the student's folder only when its file is complete
    try:
        with open(fresh, "wb") as file:
            for number, part in enumerate(source.chunks(path)):
                file.write(part.removeprefix(_BOM) if number == 0 else part)
        if target.is_file() and target.read_bytes() == fresh.read_bytes():
            return False
        if stays:
            raise UnreadableFileError(stays)
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.replace(target)
        return True
    finally:
        fresh.unlink(missing_ok=True)
