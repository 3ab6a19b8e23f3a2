"""Leaves an exercise open if the judge found no kernel in its place, but there may be one.

The judge gives 0 for an untouched stub. Students also write their kernel into a text cell between
sentences, as comments, into a string, under another name, or into another file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from nbformat.notebooknode import NotebookNode

from graders.grading.intake.handed_in import listed
from graders.grading.marks import Marks, ungraded_marks
from graders.judge import discovery
from triton_util.report import Finding

TWO, NOT_DEFINED = "defined-twice", "undefined-name"
MISSING = {"stub-unchanged", "function-missing", TWO}
ENOUGH = 2  # lines with Triton's functions: a kernel has at least a load and a store
LONGEST, MOST = 20_000, 300  # characters of a cell that are read, and cells
_TRITON = re.compile(r"\btl\.\w+\(")
_DEFINED = re.compile(r"^def (\w+)", re.M)
_MARKS_OF_TEXT = "#> \t'\""


def reconsidered(
    judged: Marks, nb: NotebookNode, lesson: Iterable[NotebookNode], beside: Sequence[str]
) -> Marks:
    """Return the marks, without points where a person has to look for the kernel.

    `beside` are the other notebooks, scripts and archives that the student handed in.
    """
    if judged.public.points != 0 or judged.hidden.points != 0:
        return judged
    findings = [Finding.from_json(found) for found in judged.report["findings"]]
    codes = {found.code for found in findings}
    exercise, given = judged.exercise, list(lesson)
    why = ""
    if codes & MISSING:
        places = list(_places(nb, exercise, _lines(given), codes))
        why = _told(exercise, places, beside, codes)
    elif _lacks_a_name(findings) and _is_reordered(nb, given):
        why = (
            f"the cells are not in the order of the lesson, so {exercise} lacks a name that a "
            "later cell defines. Put them in order, or give points by hand."
        )
    return ungraded_marks(discovery.exercise(exercise), why) if why else judged


def _told(exercise: str, places: Sequence[int], beside: Sequence[str], codes: set[str]) -> str:
    """Return why a person has to look; "" if there is nothing to look at."""
    if TWO in codes:
        return f"there are two different functions {exercise}. Choose one, or ask which counts."
    found = [f"cell {place}" for place in places[:5]] + ([listed(beside)] if beside else [])
    if not found:
        return ""
    return (
        f"no kernel for {exercise} is in its place, but it may be in {', '.join(found)}. "
        "Look at it and give points by hand, or ask for a notebook with the kernel in its cell."
    )


def _places(nb: NotebookNode, exercise: str, known: set[str], codes: set[str]) -> Iterator[int]:
    """Yield the numbers of cells with code of Triton that the judge did not use."""
    for number, cell in enumerate(nb.cells[:MOST], start=1):
        label = cell.metadata.get("nbgrader", {})
        own = [line for line in cell.source[:LONGEST].splitlines() if _bare(line) not in known]
        if label.get("grade_id") == exercise and "stub-unchanged" in codes:
            own = [line for line in own if line.lstrip().startswith("#")]  # the rest was judged
        elif label.get("grade_id") != exercise and label.get("solution"):
            continue  # the answer to another question
        if sum(bool(_TRITON.search(line)) for line in own) < ENOUGH:
            continue
        if not _is_used_elsewhere(nb, cell, exercise):
            yield number


def _is_used_elsewhere(nb: NotebookNode, cell: NotebookNode, exercise: str) -> bool:
    """Whether a code cell defines functions for the answer to another exercise."""
    names = set(_DEFINED.findall(cell.source[:LONGEST])) if cell.cell_type == "code" else set()
    others = "\n".join(
        other.source[:LONGEST]
        for other in nb.cells[:MOST]
        if other is not cell
        and other.cell_type == "code"
        and other.metadata.get("nbgrader", {}).get("solution")
        and other.metadata["nbgrader"]["grade_id"] != exercise
    )
    return bool(names & set(re.findall(r"\w+", others)))


def _lines(lesson: Iterable[NotebookNode]) -> set[str]:
    return {_bare(line) for cell in lesson for line in cell.source.splitlines()} | {""}


def _bare(line: str) -> str:
    """Return a line without the marks of a comment, a quotation or a string."""
    return line.strip(_MARKS_OF_TEXT)


def _lacks_a_name(findings: Iterable[Finding]) -> bool:
    return any(f.code == NOT_DEFINED or "NameError" in f.message for f in findings)


def _is_reordered(nb: NotebookNode, lesson: Sequence[NotebookNode]) -> bool:
    """Whether code cells of the lesson are in another order than there."""
    order: dict[str, int] = {}
    for index, cell in enumerate(cell for cell in lesson if cell.cell_type == "code"):
        order.setdefault(" ".join(cell.source.split()), index)
    texts = (" ".join(cell.source.split()) for cell in nb.cells if cell.cell_type == "code")
    places = [order[text] for text in texts if text in order]
    return places != sorted(places)
