"""Finds what a student wrote outside the graded cells, because it may be a written answer.

Students often write an answer above or below its placeholder, in a code or raw cell, or in the
question's cell. So an untouched placeholder gets 0 points automatically only if the rest of the
notebook contains no new text. Otherwise a person grades it, and sees all of the new text.
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

from graders.grading.intake.handed_in import listed
from graders.grading.plugins.rubric import written_answer
from graders.grading.sanitise import clean_markdown
from graders.judge.plain_text import plain, shortened

NEW_TEXT = "new_text"  # in a notebook's metadata: cells with text that is not in the lesson
BESIDE = "beside"  # there, too: other files that may contain a written answer
HEADING = "**What else could be the answer**"
LONGEST_EDITED = 2_000  # characters of a cell that is compared with those of the lesson
LIKE = 0.6  # the fraction of an edited cell that is the lesson's
LONGEST_SHOWN, MOST_SHOWN = 4_000, 20  # characters of a cell, and cells
_REMARK = re.compile(r"#(.*)|(\"\"\"|'''|\"|')(.*?)(?:\2|$)")
SENTENCE = 5  # words
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OUTSIDE = re.compile(  # at the beginning of a line
    r"""^(?:\#(?P<remark>.*)|(?P<quote>\"{3}|'{3}|["'])(?P<text>[^\\]*?)(?P=quote))""", re.M
)
_WORD = re.compile(r"[^\W\d_]+")
_SEVERAL_WORDS = re.compile(
    r"(?<![^\W\d_])[^\W\d_]++[\s,;:'’-]++[^\W\d_]|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_CODE = re.compile(r"[=(\[{]|^\s*(?:from|import|return|raise|assert|del|global|@)\b|:\s*$")


def new_text(cells: Sequence[NotebookNode], lesson: Iterable[NotebookNode]) -> list[int]:
    """Return the indices of cells with words that are not in the lesson.

    Graded cells and the learner's kernels are ignored, because they have their own points, except
    for pictures, and for whole sentences outside the functions. An edit of the lesson's code cell
    counts if it adds words: `predict("x", 4)` does not.
    """
    known = [cell for cell in lesson if cell.source.strip()]
    lines = {line.strip() for cell in known for line in cell.source.splitlines()}
    same = {_normal(cell.source) for cell in known}
    code = [cell.source for cell in known if cell.cell_type == "code"]
    pictures = {name for cell in known for name in cell.get("attachments", {})}
    return [
        index
        for index, cell in enumerate(cells)
        if _has_a_sentence(cell, lines)
        or bool(set(cell.get("attachments", {})) - pictures)
        or (
            "nbgrader" not in cell.metadata
            and (text := _normal(cell.source))
            and text not in same
            and not (cell.cell_type == "code" and _is_an_edit(cell.source, code))
        )
    ]


def _is_an_edit(source: str, lesson: Sequence[str]) -> bool:
    """Whether a code cell is the lesson's, edited without words that could be an answer."""
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


def _has_a_sentence(cell: NotebookNode, known: set[str]) -> bool:
    """Whether a graded code cell has a new comment or string of a sentence after its functions.

    Students write an answer there, too. Remarks in and above a kernel are about the kernel.
    """
    if cell.cell_type != "code" or not cell.metadata.get("nbgrader", {}).get("solution"):
        return False
    lines = cell.source[-LONGEST_SHOWN:].splitlines()
    last = max((n for n, line in enumerate(lines) if line.startswith("def ")), default=0)
    fresh = [line for line in lines[last:] if line.strip() not in known]
    said = [found["remark"] or found["text"] or "" for found in _OUTSIDE.finditer("\n".join(fresh))]
    words = _WORD.findall(" ".join(said))
    return len(words) >= SENTENCE or any(_UNSPACED.search(word) for word in words)


def _says_something(line: str, known: set[str]) -> bool:
    """Whether a line has several words in a comment or a string, or is not code."""
    remarks = ["".join(found) for found in _REMARK.findall(line)]
    parts = remarks if remarks or _CODE.search(line) else [line]
    return any(_SEVERAL_WORDS.search(part) and set(_WORD.findall(part)) - known for part in parts)


def _normal(text: str) -> str:
    """Return the text in a form for comparing, without the parts that `mend` removes."""
    return " ".join(clean_markdown(text).split())


def is_untouched(cell: NotebookNode) -> bool:
    """Whether the answer in the cell is still the lesson's placeholder."""
    checksum = cell.metadata.nbgrader.get("checksum")
    return checksum is not None and checksum == compute_checksum(cell)


class ShowPossibleAnswers(Preprocessor):  # type: ignore[misc]
    """For formgrader: adds a cell after each written answer with all text that may belong to it."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Add the cells on formgrader's pages only, which have a submission's number."""
        noted = nb.metadata.get("tilewise", {})
        places, papers = noted.get(NEW_TEXT, []), noted.get(BESIDE, [])
        if "submission_id" not in resources or not (places or papers):
            return nb, resources
        files = [f"Handed in, too: {listed(papers)}"] if papers else []
        shown = "\n\n".join([*_shown(nb.cells, places), *files])
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
