"""Finds the file that counts in a student's folder, and turns it into a well-formed notebook."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from graders.grading.intake import removed_links
from graders.grading.intake.timestamps import TIMESTAMP
from graders.grading.sanitise import MAX_SOURCE
from graders.judge.plain_text import quoted
from graders.judge.submission.files import opened
from graders.judge.submission.refusals import SubmissionError, refusal

KINDS = (".ipynb", ".py")  # a notebook counts before a script
PACKED = ".zip"
NOTES = (TIMESTAMP, "submission_secret.txt")  # nbgrader's, beside a notebook
_NAMED = 5  # files that a message names
_PAGES = (".html", ".htm", ".pdf")
ARCHIVES = (PACKED, ".7z", ".rar", ".tar", ".gz", ".tgz", ".xz", ".bz2")


def counting(folder: Path, assignment: str) -> Path:
    """Return the file that counts: named like the assignment, else the only one of its kind.

    A script beside a notebook is a helper file and does not count. If no file counts, a
    SubmissionError says what was handed in.
    """
    files = sorted(path for path in folder.glob("*") if is_students(path))
    for kind in KINDS:
        found = [path for path in files if path.suffix.lower() == kind and not path.is_dir()]
        named = [path for path in found if path.name == f"{assignment}{kind}"]
        named += [path for path in found if path.stem == assignment]
        if named or len(found) == 1:
            return (named or found)[0]
        if found:
            raise _refused(several([path.name for path in found], assignment))
    links = removed_links.read(folder)
    if links:
        what = f"{listed(links)} was a link, and collecting removes links"
        raise _refused((what, "Ask for the notebook itself"))
    below = [path.relative_to(folder).as_posix() for path in folder.glob("*/**/*")]
    raise _refused(described([*(path.name for path in files if not path.is_dir()), *below]))


def bare_notebook(code: Iterable[str]) -> dict[str, Any]:
    """Return a notebook that contains only these code cells."""
    bare: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": []}
    cells = [bare | {"execution_count": None, "source": text} for text in code]
    return {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}


def is_students(path: Path) -> bool:
    """Whether the student put the file there, judging by its name."""
    return path.name not in NOTES and not path.name.startswith(".")


def _refused(said: tuple[str, str]) -> SubmissionError:
    what, step = said
    return refusal("file-missing", "There is no notebook to grade", f"{what}.", f"{step}.")


def several(names: Sequence[str], assignment: str) -> tuple[str, str]:
    """Return the message for several files, none named like the assignment: facts, next step."""
    ending = PurePosixPath(names[0]).suffix.lower()
    kind = "notebooks" if ending == KINDS[0] else "scripts"
    what = f"{len(names)} {kind} were handed in, {listed(names)}, and any of them may count"
    return what, f"Ask for one of them, or for the name {assignment}{ending}"


def described(names: Sequence[str]) -> tuple[str, str]:
    """Return what was handed in instead of a notebook, and what to do."""
    deep = [name for name in names if "/" in name and name.lower().endswith(KINDS)]
    shown = listed(deep or names)
    if deep:
        return f"The notebook is in a folder, {shown}", "Hand it in without the folder"
    if any(name.lower().endswith(ARCHIVES) for name in names):
        return f"{shown} is packed", "Unpack it, and hand in the notebook (.ipynb) in it"
    if any(name.lower().endswith(_PAGES) for name in names):
        step = "Hand in the notebook itself (.ipynb), as JupyterLab saves it"
        return f"{shown} is a page to read, not a notebook", step
    if names:
        return f"{shown} is neither a notebook nor a .py file", "Hand in the notebook (.ipynb)"
    return "The folder is empty", "Ask for the notebook (.ipynb)"


def listed(names: Iterable[str]) -> str:
    """Return the first of these names, joined for one line of a message."""
    shown = sorted(names)
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return ", ".join(quoted(name, 100) for name in shown[:_NAMED]) + more


def in_order(path: Path) -> dict[str, Any]:
    """Return the notebook, or the script as a one-cell notebook; may raise SubmissionError."""
    if path.suffix.lower() == KINDS[1] and not _text(path).lstrip().startswith("{"):
        return script(path)
    from graders.judge.submission.loading import notebook_in_order  # imports torch: slow

    return notebook_in_order(path)  # a file that begins with { is one, whatever it is called


def script(path: Path) -> dict[str, Any]:
    """Return a notebook with the script as its only cell. The text is not parsed."""
    return bare_notebook([_text(path)])


def _text(path: Path) -> str:
    """Return a script's text; some programs of Windows save UTF-16."""
    with os.fdopen(opened(path), "rb") as file:
        data = file.read(4 * MAX_SOURCE)
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if wide else "utf-8-sig", "replace")
