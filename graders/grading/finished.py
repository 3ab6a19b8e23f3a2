"""Remembers which students are graded, and on what their grades depend, so no run repeats work.

It imports nothing slow: a command first asks here whether there is anything to judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graders.grading.atomic_files import read_json, write_atomically
from graders.judge.plain_text import one_line


class Finished:
    """The students of an assignment whose grades nbgrader has written, in `folder`."""

    def __init__(self, course: Path, assignment: str) -> None:
        self.folder = course / ".tilewise" / "graded" / assignment

    def get(self, student: str) -> dict[str, Any]:
        """Return what `put` stored; {} if the file is missing or damaged."""
        return read_json(self._path(student))

    def ungraded(self) -> dict[str, str]:
        """Return the students whose last grading ended without a grade, and why."""
        found = {path.stem: self.get(path.stem) for path in sorted(self.folder.glob("*.json"))}
        return {name: one_line(str(s["reason"])) for name, s in found.items() if s.get("reason")}

    def put(self, student: str, state: Mapping[str, Any]) -> None:
        """Store what the grade depended on (`digest`), and why it is open (`reason`)."""
        write_atomically(self._path(student), state)

    def _path(self, student: str) -> Path:
        return self.folder / f"{student}.json"
