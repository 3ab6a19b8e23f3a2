"""Which work of a student was graded last: points that a person gave are for that work."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from graders.grading.atomic_files import read_json, write_atomically


class SeenWorks:
    """The work of each student that was graded last, by its digest, for one notebook."""

    def __init__(self, course: Path, assignment: str, notebook: str) -> None:
        self._folder = course / ".tilewise" / "works" / assignment / notebook

    def get(self, student: str) -> str:
        """The digest; "" where nothing was graded yet."""
        return str(read_json(self._path(student)).get("digest", ""))

    def put(self, student: str, digest: str) -> None:
        """Remember the digest of the work that is graded now."""
        if self.get(student) != digest:
            write_atomically(self._path(student), {"digest": digest})

    def _path(self, student: str) -> Path:
        return self._folder / f"{student}.json"


def works_of(course: Path, assignment: str, student: str) -> str:
    """The digests of all notebooks of a student's work."""
    place = course / ".tilewise" / "works" / assignment
    notebooks = sorted(path.name for path in place.glob("*") if path.is_dir())
    return " ".join(SeenWorks(course, assignment, name).get(student) for name in notebooks)


def digest_of_work(notebook: NotebookNode) -> str:
    """A digest of what the student wrote in a mended notebook.

    Grade cells are the instructor's: a changed test is no other work.
    """
    cells = []
    for cell in notebook.cells:
        label = cell.metadata.get("nbgrader", {})
        if not label.get("locked") or label.get("solution"):
            cells.append([cell.cell_type, " ".join(cell.source.split())])
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()
