"""Executes a notebook with own tests, and fills the cells that nbgrader grades by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode

from graders.grading.own_tests import outputs, telling
from graders.grading.own_tests.cells import hides, is_test, label, own_test, runnable
from graders.grading.own_tests.execution import Executed, Ran, SessionCell
from graders.grading.own_tests.session import CannotRun, shared

PYTHON = "python"


@dataclass
class OwnMarks:
    """The results of own tests, by nbgrader's id of the cell.

    Cells in `settled` have their points in their outputs, `reasons` say why others have none,
    and `notes` are for the feedback page.
    """

    settled: set[str] = field(default_factory=set)
    reasons: dict[str, str] = field(default_factory=dict)
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)


def run(notebook: NotebookNode, beside: Path | None, cell_seconds: float | None = None) -> OwnMarks:
    """Execute the notebook if it has own tests; other cells keep their outputs."""
    marks = OwnMarks()
    tests = {n: text for n, c in enumerate(notebook.cells) if (text := own_test(c))}
    if not tests:
        return marks
    reason, outcome = _language(notebook), Executed()
    if not reason:
        outcome, reason = _outcome(notebook, tests, beside, cell_seconds)
    free = True
    for number, cell in enumerate(notebook.cells):
        ran = outcome.ran.get(number)
        if number in tests:
            free = free and not hides(cell.source)
            told = reason if runnable(tests[number]) else _TIED
            _settle(cell, ran, told, free, marks)
        elif _by_hand(cell) and ran is not None:
            cell.outputs = outputs.shown(ran)
            marks.notes[label(cell)["grade_id"]] = telling.note(ran.line, free, is_open=False)
    return marks


def _by_hand(cell: NotebookNode) -> bool:
    """Whether a person grades the cell and needs its outputs."""
    return bool(label(cell).get("grade") and label(cell).get("solution"))


_TIED = "the judge's call is part of another line of this cell: give it a line of its own"


def _outcome(
    notebook: NotebookNode,
    tests: Mapping[int, str],
    beside: Path | None,
    cell_seconds: float | None,
) -> tuple[Executed, str]:
    """Return which cells were executed, and why the others were not."""
    last = max(tests)
    cells = [
        SessionCell(
            number,
            tests.get(number, cell.source),
            number in tests,
            number in tests or _by_hand(cell),
        )
        for number, cell in enumerate(notebook.cells[: last + 1])
        if cell.cell_type == "code"
        and (runnable(tests[number]) if number in tests else not is_test(cell))
    ]
    try:
        outcome = shared().run(cells, beside, cell_seconds)
    except CannotRun as error:
        return Executed(), f"the test was not run: {error}"
    return outcome, f"the test was not run: {outcome.reason}" if outcome.reason else ""


def _language(notebook: NotebookNode) -> str:
    """Return why the notebook's language cannot run here; "" if it is Python."""
    kernel = notebook.metadata.get("kernelspec", {})
    language = str(kernel.get("language") or "") or _of_kernel(str(kernel.get("name", "")))
    if language.casefold() == PYTHON:
        return ""
    return (
        f"the test was not run: the notebook asks for the kernel {kernel.get('name')!r}, and here "
        "only Python is executed: grade it by hand"
    )


def _of_kernel(name: str) -> str:
    return PYTHON if not name or name.startswith(PYTHON) else name


def _settle(cell: NotebookNode, ran: Ran | None, reason: str, free: bool, marks: OwnMarks) -> None:
    name = label(cell)["grade_id"]
    before = cell.outputs  # the judge's, if the cell also calls it
    why = outputs.settle(cell, ran, reason)
    if why:
        marks.reasons[name] = why
    else:
        marks.settled.add(name)
    failed = any(output.output_type == "error" for output in cell.outputs)
    if before and not why and not failed:
        cell.outputs, free = before, True  # the page may show the judge's outputs
    elif before and failed:
        cell.outputs += [output for output in before if output.output_type == "stream"]
    marks.notes[name] = telling.note(ran.line if ran else None, free, bool(why))
