"""What counts of all that stands in a student's folder, and how it becomes a notebook in order."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from graders.grading.judging import bare_notebook
from graders.grading.sanitise import MAX_SOURCE
from graders.judge.submission.files import opened
from graders.judge.submission.loading import notebook_in_order

KINDS = (".ipynb", ".py")  # a notebook counts before a script


def counting(folder: Path, assignment: str) -> Path:
    """The file that counts: of the assignment's name, else the only one of its kind.

    A script beside a notebook is a helper of the student's and counts for nothing.
    """
    for kind in KINDS:
        named = folder / f"{assignment}{kind}"
        others = sorted(folder.glob(f"*{kind}"))
        if named.exists() or named in others:
            return named
        if len(others) == 1:
            return others[0]
        if others:
            break
    return folder / f"{assignment}.ipynb"


def in_order(path: Path) -> dict[str, Any]:
    """The notebook, or the script as a notebook of one cell; raises SubmissionError."""
    return script(path) if path.suffix == ".py" else notebook_in_order(path)


def script(path: Path) -> dict[str, Any]:
    """A notebook with the script as its only cell. Its text is copied, never parsed."""
    with os.fdopen(opened(path), "rb") as file:
        text = file.read(4 * MAX_SOURCE).decode("utf-8-sig", "replace")
    return bare_notebook([text])
