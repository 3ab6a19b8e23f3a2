"""Feedback as one zip, under the names that the learning platform gave to the submissions."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from graders.grading.intake import origins


@dataclass(frozen=True)
class Packed:
    """Students whose page is in the zip, and those who handed in and have none."""

    packed: tuple[str, ...]
    missing: tuple[str, ...]


def pack(course: Path, assignment: str, target: Path) -> Packed:
    """Write the pages that `nbgrader generate_feedback` has made into one zip.

    Canvas and Moodle take a zip back whose files are called as those that they packed. A
    submission that came in another way stands under the student's name.
    """
    known = origins.read(course, assignment)
    students = sorted(path.parent.name for path in (course / "submitted").glob(f"*/{assignment}"))
    packed, missing = [], []
    used: set[str] = set()  # a group hands in one file for several students
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for student in students:
            page = course / "feedback" / student / assignment / f"{assignment}.html"
            if not page.is_file():
                missing.append(student)
                continue
            place = known.get(student, "")
            if not place or place in used:
                place = f"{student}/{assignment}.ipynb"
            used.add(place)
            archive.write(page, str(PurePosixPath(place).with_suffix(".html")))
            packed.append(student)
    return Packed(tuple(packed), tuple(missing))
