"""Remembers which work of a student was graded last: points given by hand are for that work."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from graders.grading.atomic_files import read_json, write_atomically
from graders.grading.intake.requests import is_request


class SeenWorks:
    """The digest of each student's last graded work, for one notebook."""

    def __init__(self, course: Path, assignment: str, notebook: str) -> None:
        self._folder = course / ".tilewise" / "works" / assignment / notebook

    def get(self, student: str) -> str:
        """Return the digest; "" if nothing was graded yet."""
        return str(read_json(self._path(student)).get("digest", ""))

    def put(self, student: str, digest: str) -> None:
        """Store the digest of the work that is being graded."""
        if self.get(student) != digest:
            write_atomically(self._path(student), {"digest": digest})

    def _path(self, student: str) -> Path:
        return self._folder / f"{student}.json"


def works_of(course: Path, assignment: str, student: str) -> str:
    """Return the digests of all notebooks of a student's work."""
    place = course / ".tilewise" / "works" / assignment
    notebooks = sorted(path.name for path in place.glob("*") if path.is_dir())
    return " ".join(SeenWorks(course, assignment, name).get(student) for name in notebooks)


def digest_of_work(notebook: NotebookNode) -> str:
    """Return a digest of what the student wrote in a fixed notebook.

    It leaves out grade cells: they are the instructor's, and a changed test is not new work. It
    also leaves out requests for regrading, so that points by hand stay while a student asks.
    """
    cells = []
    for cell in notebook.cells:
        label = cell.metadata.get("nbgrader", {})
        if label.get("locked") and not label.get("solution"):
            continue
        if label or not is_request(cell):
            cells.append([cell.cell_type, " ".join(cell.source.split())])
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()
