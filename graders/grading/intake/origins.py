"""Remembers from which LMS file a submission came, because feedback gets the same name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from graders.grading.atomic_files import write_atomically
from graders.grading.intake.submissions import Found


def keep(course: Path, assignment: str, found: Iterable[Found]) -> None:
    """Store the path of each student's file; a later file replaces an earlier one."""
    known = {**read(course, assignment), **{one.student: one.path for one in found if one.lms}}
    if known:
        write_atomically(_place(course, assignment), known)


def read(course: Path, assignment: str) -> dict[str, str]:
    """Return the path in the LMS's zip for each student."""
    try:
        known = json.loads(_place(course, assignment).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _place(course: Path, assignment: str) -> Path:
    return course / ".tilewise" / "origins" / f"{assignment}.json"
