"""Remembers which links collecting removed from a submission, so grading can report them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graders.grading.atomic_files import read_json, write_atomically


def keep(folder: Path, names: Sequence[str]) -> None:
    """Store the links removed from submitted/STUDENT/ASSIGNMENT, replacing older entries."""
    place, student = _place(folder)
    known = read_json(place)
    if names or student in known:
        write_atomically(place, {**known, student: list(names)})


def read(folder: Path) -> list[str]:
    """Return the names of the links that were removed from this folder."""
    place, student = _place(folder)
    names = read_json(place).get(student, [])
    return [str(name) for name in names] if isinstance(names, list) else []


def _place(folder: Path) -> tuple[Path, str]:
    course = folder.absolute().parents[2]
    return course / ".tilewise" / "removed_links" / f"{folder.name}.json", folder.parent.name
