"""Loads what the judge runs from a file: the launcher and all that it needs, found by name.

The rest of the submission is dropped, so other cells and test code never run. The judge does not
parse the file itself: `reader` does, in a process with limits.
"""

from __future__ import annotations

import bisect
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graders.judge.plan.code import Code
from graders.judge.records import Exercise
from graders.judge.submission.files import opened
from graders.judge.submission.reader import shared
from graders.judge.submission.refusals import SubmissionError
from graders.judge.submission.shapes import Shape
from triton_util.report import Finding

__all__ = [
    "Submission",
    "SubmissionError",
    "defined_functions",
    "from_text",
    "kernels_in",
    "load",
    "notebook_in_order",
]


@dataclass(frozen=True)
class Submission:
    """A launcher and its dependencies as Python text.

    `source` contains only what the launcher needs, every kept line at its own line number
    (of the script, or of all code cells of the notebook one after another). `cells` has
    (first line, cell number) for a notebook and is empty for a script. `codes` are the canonical
    texts of its functions, from which kernels are made. `findings` are those of the static gate,
    which the reading process applies.
    """

    name: str
    source: str
    launcher: str
    cells: tuple[tuple[int, int], ...] = ()
    codes: tuple[Code, ...] = ()
    findings: tuple[Finding, ...] = ()

    def locate(self, line: int | None) -> tuple[str, int | None]:
        """Return the place of a line of `source`: ("cell 7", 3), or ("line", 12) in a script."""
        if line is None:
            return "", None
        if not self.cells:
            return "line", line
        position = max(0, bisect.bisect_right(self.cells, (line, 10**9)) - 1)
        first, number = self.cells[position]
        return f"cell {number}", line - first + 1


def load(path: Path, exercise: Exercise) -> Submission:
    """Load the submission in a `.py` file or a notebook; raises only SubmissionError."""
    descriptor = opened(path)
    try:
        return _sliced(descriptor, exercise, str(path), path.suffix.lower() == ".ipynb")
    finally:
        os.close(descriptor)


def from_text(text: str, exercise: Exercise, name: str = "<text>") -> Submission:
    """Load the submission in a Python text, or in a notebook's JSON if `name` ends in .ipynb."""
    is_notebook = name.endswith(".ipynb") and text.lstrip().startswith("{")
    descriptor = os.memfd_create("tilewise-text", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        return _sliced(descriptor, exercise, name, is_notebook, encoded=False)
    finally:
        os.close(descriptor)


def _sliced(
    descriptor: int, exercise: Exercise, name: str, is_notebook: bool, encoded: bool = True
) -> Submission:
    found = shared().ask("slice", descriptor, _wanted(exercise, is_notebook, encoded))
    cells = tuple((int(line), int(number)) for line, number in found["cells"])
    codes = tuple(replace(Code.from_json(raw), parsed=tree) for raw, tree in found["codes"])
    findings = tuple(map(Finding.from_json, found["findings"]))
    return Submission(name, str(found["source"]), exercise.name, cells, codes, findings)


def _wanted(exercise: Exercise, is_notebook: bool, encoded: bool = True) -> dict[str, Any]:
    """Return the request for `reader`. `encoded`: a script may declare its encoding."""
    return {
        "launcher": exercise.name,
        "parameters": list(exercise.parameters),
        "lesson": exercise.lesson,
        "notebook": is_notebook,
        "encoded": encoded,
    }


def kernels_in(path: Path, exercise: Exercise | None = None) -> tuple[Submission, list[Shape]]:
    """Return the kernels that the exercise's launcher needs, or without one all of the file's.

    The Submission returned with them locates lines; it has no source. Raises SubmissionError.
    """
    descriptor = opened(path)
    is_notebook = path.suffix.lower() == ".ipynb"
    request = {"notebook": is_notebook} if exercise is None else _wanted(exercise, is_notebook)
    try:
        found = shared().ask("kernels", descriptor, request)
    finally:
        os.close(descriptor)
    cells = tuple((int(line), int(number)) for line, number in found["cells"])
    launcher = exercise.name if exercise is not None else ""
    return Submission(str(path), "", launcher, cells), [Shape(**k) for k in found["kernels"]]


def notebook_in_order(path: Path) -> dict[str, Any]:
    """Return the notebook in a form that nbgrader can read; raises SubmissionError."""
    descriptor = opened(path)
    try:
        return dict(shared().ask("notebook", descriptor, {})["notebook"])
    finally:
        os.close(descriptor)


def defined_functions(path: Path) -> set[str] | None:
    """Return the names that a file defines or seems to define; None if it cannot be read.

    It searches the text, because a cell with a syntax error still shows what it should define.
    """
    try:
        descriptor = opened(path)
    except SubmissionError:
        return None
    try:
        return set(
            shared().ask("names", descriptor, {"notebook": path.suffix.lower() == ".ipynb"})[
                "names"
            ]
        )
    except SubmissionError:
        return None
    finally:
        os.close(descriptor)
