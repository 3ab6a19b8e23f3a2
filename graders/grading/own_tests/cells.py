"""Finds the cells of a notebook that the judge grades, and an instructor's own tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from nbformat.notebooknode import NotebookNode

from graders.authoring.grade_cells import hidden_id, public_id
from graders.judge import discovery

_CALL = "grade_cell("  # of the judge, in the grade cells of our lessons
_OUR_LINES = re.compile(  # of a grade cell, as `tilewise build` writes it
    r"^(?:from graders\.grading\.plugins\.cell import grade_cell|import triton_util"
    r"|(?:triton_util\.validate|grade_cell)\([^()#]*\))[ \t]*+;?[ \t]*+$",
    re.MULTILINE,
)
PUBLIC, HIDDEN = public_id(""), hidden_id("")  # the ends of their ids
_SAYS_NOTHING = re.compile(r"\s*(?:#.*)?\Z")
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"


def label(cell: NotebookNode) -> Mapping[str, Any]:
    """Return nbgrader's metadata of a cell; empty if it has none."""
    found = cell.metadata.get("nbgrader")
    return found if isinstance(found, Mapping) else {}


def judged_exercises(cells: Iterable[tuple[str, str]]) -> list[str]:
    """Return the exercises that the judge grades; `cells` are (nbgrader's id, text), in order."""
    names = [name for name, text in cells if is_judged(name, text) and name.endswith(PUBLIC)]
    return [name.removesuffix(PUBLIC) for name in names]


def is_judged(name: str, text: str) -> bool:
    """Whether the judge gives the points of the grade cell with this id and text."""
    if _CALL not in text or not name.endswith((PUBLIC, HIDDEN)):
        return False
    return name.removesuffix(PUBLIC).removesuffix(HIDDEN) in discovery.exercises()


def is_test(cell: NotebookNode) -> bool:
    """Whether nbgrader grades the cell by executing it."""
    found = label(cell)
    return cell.cell_type == "code" and bool(found.get("grade")) and not found.get("solution")


def own_test(cell: NotebookNode) -> str:
    """Return the code of the instructor's own test in this cell; "" if there is none."""
    return own_part(label(cell).get("grade_id", ""), cell.source) if is_test(cell) else ""


def own_part(name: str, text: str) -> str:
    """Return the part of a test that the instructor wrote; "" if all of it is the judge's."""
    if not is_judged(name, text):
        return text
    rest = _OUR_LINES.sub("", text)
    return "" if all(map(_SAYS_NOTHING.match, rest.split("\n"))) else rest


def runnable(text: str) -> bool:
    """Whether a test can run without the judge: no line combines the judge's call with others."""
    return _CALL not in text


def hides(text: str) -> bool:
    """Whether the cell has hidden tests."""
    return BEGIN_HIDDEN in text


def is_hidden_line(text: str, number: int) -> bool:
    """Whether the line with this number, from 1, belongs to the hidden tests."""
    hidden = False
    for line in text.split("\n")[:number]:
        hidden = (hidden or BEGIN_HIDDEN in line) and END_HIDDEN not in line
    return hidden
