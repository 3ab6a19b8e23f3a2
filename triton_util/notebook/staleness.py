"""Finds definitions in Python that differ from what the notebook shows.

A definition outlives its cell: the learner edits the cell without running it, or runs it with a
syntax error, or an earlier line of it raises. In each case Python keeps the older definition, and
the judge would judge code that the notebook does not show.
"""

from __future__ import annotations

import ast
import re
import time
from dataclasses import dataclass

from triton_util.notebook.session import Cell, Session
from triton_util.notebook.source import Gathered, bound_in, inner_function


@dataclass(frozen=True)
class Outdated:
    """A cell that should have redefined `name` and did not; `held` is the cell whose text counts.

    `why` is "unreadable" (Python cannot parse it), "failed" (it ended before the definition),
    "edited" (it was not run since) or "gone" (no cell shows this text any more). `newer` is the
    label of that cell, "" if it was never run; `line` and `problem` are Python's error.
    """

    name: str
    held: Cell
    why: str
    newer: str = ""
    line: int | None = None
    code_line: str = ""
    problem: str = ""


def outdated(gathered: Gathered, session: Session) -> Outdated | None:
    """The first name of a submission whose definition is older than what the notebook shows."""
    by_label = {cell.label: (number, cell) for number, cell in enumerate(session.cells)}
    for name, label in gathered.cells:
        if label not in by_label:
            continue
        number, held = by_label[label]
        for cell in reversed(session.cells[number + 1 :]):
            found = _overtaken(name, held, cell, session)
            if found is not None:
                return found
        found = _edited(name, held, session)
        if found is not None:
            return found
    return None


def _overtaken(name: str, held: Cell, cell: Cell, session: Session) -> Outdated | None:
    """A later cell that contains a definition of the name but did not reach it."""
    if not _mentions(name, cell.source):
        return None
    if session.shown is not None and cell.typed.strip() not in _texts(session):
        return None  # deleted, or fixed since: then the shown text decides
    try:
        ast.parse(cell.source)
    except SyntaxError as error:
        lines = cell.source.splitlines()
        line = error.lineno or 1
        text = lines[line - 1].strip() if line <= len(lines) else ""
        place = line + cell.first_line - 1
        return Outdated(name, held, "unreadable", cell.label, place, text, error.msg)
    function = inner_function(session.namespace.get(name))
    if function is None or not isinstance(bound_in(cell.source).get(name), ast.FunctionDef):
        return None
    if function.__name__ != name or function.__code__.co_filename == cell.filename:
        return None
    return Outdated(name, held, "failed", cell.label) if cell.filename else None


def _edited(name: str, held: Cell, session: Session) -> Outdated | None:
    """The text of the definition is no longer shown in the notebook."""
    if session.shown is None or not held.typed or held.typed.strip() in _texts(session):
        return None
    if any(_mentions(name, text) for text in session.shown):  # edited, or an edit undone
        return Outdated(name, held, "edited")
    if inner_function(session.namespace.get(name)) is None:
        return None  # the number belongs to a cell that was reused since
    return Outdated(name, held, "gone")


def _texts(session: Session) -> set[str]:
    return {text.strip() for text in session.shown or ()}


def _mentions(name: str, text: str) -> bool:
    """Whether a text seems to bind the name at its left margin, judged without parsing."""
    return re.search(rf"^(?:def\s+{name}\s*\(|{name}\s*(?::[^=\n]*)?=[^=])", text, re.M) is not None


def told(gathered: Gathered, session: Session) -> str:
    """Which cells a submission was taken from, and how long ago they ran; "" for none."""
    labels = list(dict.fromkeys(label for _, label in gathered.cells))
    by_label = {cell.label: cell for cell in session.cells}
    known = [by_label[label] for label in labels if label in by_label]
    return ", ".join(with_age(cell) for cell in known)


def with_age(cell: Cell) -> str:
    """`cell [5], run 3 minutes ago`; without the age if it is unknown."""
    return cell.label if cell.ran is None else f"{cell.label}, run {age(time.time() - cell.ran)}"


def age(seconds: float) -> str:
    """How long ago, in words."""
    if seconds < 60:
        return "just now"
    minutes = int(seconds // 60)
    if minutes < 60:
        return f"{minutes} minute{'s' if minutes > 1 else ''} ago"
    hours = minutes // 60
    return f"{hours} hour{'s' if hours > 1 else ''} ago"
