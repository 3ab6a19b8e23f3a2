"""What a student wrote outside the cells that are graded: it may be an answer in words.

An answer stands above or below its placeholder, in a code or raw cell, or in the question's cell,
as often as in the placeholder itself. So a placeholder that nobody touched has 0 points by itself
only where the rest of the notebook says nothing new; else a person looks, and sees all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

import nbformat
from nbconvert.preprocessors import Preprocessor
from nbformat.notebooknode import NotebookNode
from nbgrader.utils import compute_checksum

from graders.grading.plugins.rubric import written_answer
from graders.grading.sanitise import clean_markdown
from graders.judge.plain_text import plain, shortened

NEW_TEXT = "new_text"  # in a notebook's metadata: cells with text that the lesson has not
HEADING = "**What else could be the answer**"
LONGEST_EDITED = 2_000  # characters of a cell that is compared with those of the lesson
LIKE = 0.6  # how much of an edited cell is the lesson's
LONGEST_SHOWN, MOST_SHOWN = 4_000, 20  # characters of a cell, and cells
_REMARK = re.compile(r"#(.*)|(\"\"\"|'''|\"|')(.*?)(?:\2|$)")
_WORD = re.compile(r"[^\W\d_]+")
_SEVERAL_WORDS = re.compile(
    r"[^\W\d_]+[\s,;:'’-]+[^\W\d_]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_CODE = re.compile(r"[=(\[{]|^\s*(?:from|import|return|raise|assert|del|global|@)\b|:\s*$")


def new_text(cells: Sequence[NotebookNode], lesson: Iterable[NotebookNode]) -> list[int]:
    """The indices of cells that say something in words which the lesson does not.

    Graded cells and the learner's kernels are left aside: these have their points. Of a code
    cell that the lesson has, an edit counts where it adds words: `predict("x", 4)` does not.
    """
    known = [cell for cell in lesson if cell.source.strip()]
    same = {_normal(cell.source) for cell in known}
    code = [cell.source for cell in known if cell.cell_type == "code"]
    return [
        index
        for index, cell in enumerate(cells)
        if "nbgrader" not in cell.metadata
        and (text := _normal(cell.source))
        and text not in same
        and not (cell.cell_type == "code" and _is_an_edit(cell.source, code))
    ]


def _is_an_edit(source: str, lesson: Sequence[str]) -> bool:
    """Whether a code cell is one of the lesson's, edited without a word that could be an answer."""
    if len(source) > LONGEST_EDITED:
        return False
    for text in lesson:
        matcher = SequenceMatcher(None, text[:LONGEST_EDITED], source, autojunk=False)
        if matcher.quick_ratio() >= LIKE and matcher.ratio() >= LIKE:
            old = {line.strip() for line in text.splitlines()}
            fresh = [line for line in source.splitlines() if line.strip() not in old]
            known = set(_WORD.findall(text))
            return not any(_says_something(line, known) for line in fresh)
    return False


def _says_something(line: str, known: set[str]) -> bool:
    """Whether a line of code has several words in a remark or a string, or is no code at all."""
    remarks = ["".join(found) for found in _REMARK.findall(line)]
    parts = remarks if remarks or _CODE.search(line) else [line]
    return any(_SEVERAL_WORDS.search(part) and set(_WORD.findall(part)) - known for part in parts)


def _normal(text: str) -> str:
    """The text as far as it matters here; of the lesson, too, what mending takes out is out."""
    return " ".join(clean_markdown(text).split())


def is_untouched(cell: NotebookNode) -> bool:
    """Whether the answer in the cell is still the placeholder that the lesson gives."""
    checksum = cell.metadata.nbgrader.get("checksum")
    return checksum is not None and checksum == compute_checksum(cell)


class ShowPossibleAnswers(Preprocessor):  # type: ignore[misc]
    """For formgrader: puts a cell behind each written answer with all that could belong to it."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Only what formgrader shows has the number of a submission."""
        places = nb.metadata.get("tilewise", {}).get(NEW_TEXT, [])
        if "submission_id" not in resources or not places:
            return nb, resources
        shown = "\n\n".join(_shown(nb.cells, places))
        cells = []
        for cell in nb.cells:
            cells.append(cell)
            if written_answer(cell):
                head = f"{HEADING}: the placeholder was not touched." if is_untouched(cell) else (
                    f"{HEADING}, or a part of it."
                )  # fmt: skip
                cells.append(nbformat.v4.new_markdown_cell(f"{head}\n\n{shown}"))
        return NotebookNode({**nb, "cells": cells}), resources


def _shown(cells: Sequence[NotebookNode], places: Sequence[int]) -> Iterator[str]:
    for place in places[:MOST_SHOWN]:
        cell = cells[place]
        text = shortened(plain(cell.source), LONGEST_SHOWN).replace("```", "'''")
        yield f"Cell {place + 1} ({cell.cell_type}):\n\n```\n{text}\n```"
    if len(places) > MOST_SHOWN:
        yield f"And {len(places) - MOST_SHOWN} more cells, on this page."
