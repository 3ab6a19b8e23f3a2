"""Copies a notebook out of a zip or a subfolder to where nbgrader looks for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from graders.grading.intake.handed_in import KINDS, PACKED, is_students, listed
from graders.grading.intake.sources import (
    MAX_FILE,
    FolderSource,
    Package,
    UnreadableFileError,
    is_junk,
    packed_inside,
    plain,
)


def bring_up(folder: Path, assignment: str) -> str:
    """Copy the only notebook below a student's folder, or in a zip there, to its top.

    Returns what was done; "" if the work is already at the top or is ambiguous. A notebook
    takes precedence over a script, and a file with the assignment's name over others.
    """
    if any(path.suffix.lower() in KINDS and path.is_file() for path in folder.glob("*")):
        return ""
    works = list(_works(folder))
    for kind in KINDS:
        found = [work for work in works if work[1].lower().endswith(kind)]
        named = [work for work in found if Path(plain(work[1])).stem == assignment]
        if len(named or found) == 1:
            ((package, path, where),) = named or found
            fresh = folder / f".{assignment}{kind}"
            with open(fresh, "wb") as file:
                for part in package.chunks(path):
                    file.write(part)
            fresh.replace(folder / f"{assignment}{kind}")
            return f"{listed([where])} counts as {assignment}{kind}"
        if found:
            return ""
    return ""


def _works(folder: Path) -> Iterator[tuple[Package, str, str]]:
    """Yield notebooks and scripts in folders and zips: source, path in it, description."""
    source = FolderSource(folder)
    for entry in source.entries():
        if entry.refused or is_junk(entry.path) or not is_students(Path(entry.path)):
            continue
        if not entry.path.lower().endswith(PACKED):
            if entry.path.lower().endswith(KINDS) and entry.size <= MAX_FILE:
                yield source, entry.path, entry.path
            continue
        try:
            inside = packed_inside(source, entry)
        except UnreadableFileError:
            continue  # the message about a missing notebook covers it
        for one in inside.entries():
            sound = not one.refused and not is_junk(one.path) and one.size <= MAX_FILE
            if sound and one.path.lower().endswith(KINDS):
                yield inside, one.path, f"{entry.path}/{one.path}"
