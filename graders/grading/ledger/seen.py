"""Remembers which work of a student was graded last: points given by hand are for that work."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from graders.grading.atomic_files import read_json, write_atomically
from graders.grading.intake.handed_in import counting
from graders.grading.intake.requests import is_request
from graders.judge.submission.refusals import SubmissionError


class SeenWorks:
    """The digest of each student's last graded work, for one notebook."""

    def __init__(self, course: Path, assignment: str, notebook: str) -> None:
        self._submitted, self._assignment = course / "submitted", assignment
        self._notebook = notebook
        self._folder = course / ".tilewise" / "works" / assignment / notebook

    def get(self, student: str) -> str:
        """Return the digest; "" if nothing was graded yet."""
        return str(read_json(self._path(student)).get("digest", ""))

    def put(self, student: str, digest: str) -> None:
        """Store the digest of the work that is being graded, and of the file with it."""
        now = {"digest": digest, "file": self._file(student)}
        if read_json(self._path(student)) != now:
            write_atomically(self._path(student), now)

    def is_outdated(self, student: str) -> bool:
        """Whether the file that was graded is no longer the one that counts."""
        graded = read_json(self._path(student)).get("file")
        folder = self._submitted / student / self._assignment
        return bool(graded) and folder.is_dir() and self._file(student) != graded

    def _file(self, student: str) -> str:
        """Return the digest of the file that counts; "" if none does."""
        folder = self._submitted / student / self._assignment
        try:
            return hashlib.sha256(counting(folder, self._notebook).read_bytes()).hexdigest()
        except (OSError, SubmissionError):
            return ""

    def _path(self, student: str) -> Path:
        return self._folder / f"{student}.json"


def works_of(course: Path, assignment: str, student: str) -> str:
    """Return the digests of all notebooks of a student's work."""
    place = course / ".tilewise" / "works" / assignment
    notebooks = sorted(path.name for path in place.glob("*") if path.is_dir())
    return " ".join(SeenWorks(course, assignment, name).get(student) for name in notebooks)


def is_outdated(course: Path, assignment: str, student: str) -> bool:
    """Whether a student handed in a file after the graded one, which is damaged or not graded."""
    place = course / ".tilewise" / "works" / assignment
    notebooks = [path.name for path in place.glob("*") if path.is_dir()]
    return any(SeenWorks(course, assignment, name).is_outdated(student) for name in notebooks)


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
