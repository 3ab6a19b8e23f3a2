"""Marks for all exercises of a notebook: from the store where they are, else from the judge."""

from __future__ import annotations

import atexit
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat.notebooknode import NotebookNode

from graders.classroom import store
from graders.classroom.marks import Marker, Marks, official_marker
from graders.classroom.store import MarksStore

if TYPE_CHECKING:
    from graders.judge.pipeline import Mode

STORE = Path(".tilewise") / "marks"  # in the course folder
MODE: Mode = "interpret"
_marker: Marker | None = None


def warm_marker() -> Marker:
    """The one marker of this process; its warm processes serve all submissions."""
    global _marker
    if _marker is None:
        _marker = official_marker(MODE)
        atexit.register(_marker.close)
    return _marker


def code_of(notebook: NotebookNode) -> list[str]:
    """The text of every cell that counts for the judge, "" for the others.

    Grade cells are ours and markdown is no code; their places are kept, because messages
    say in which cell something is.
    """
    return [
        cell.source if cell.cell_type == "code" and not _is_grade_cell(cell) else ""
        for cell in notebook.cells
    ]


def _is_grade_cell(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("grade", False))


def graded_exercises(notebook: NotebookNode) -> list[str]:
    """The exercises whose grade cells stand in the (mended) notebook, in order."""
    ids = [
        cell.metadata.get("nbgrader", {}).get("grade_id", "")
        for cell in notebook.cells
        if _is_grade_cell(cell) and cell.cell_type == "code"
    ]
    return [name.removesuffix("-public") for name in ids if name.endswith("-public")]


def mark_code(code: list[str], exercise: str, marker: Marker) -> Marks:
    """Ask the judge about the code cells of a notebook."""
    with tempfile.TemporaryDirectory(prefix="tilewise-") as folder:
        path = Path(folder) / "submission.ipynb"
        path.write_text(json.dumps(bare_notebook(code)), encoding="utf-8")
        return marker.mark(path, exercise)


def bare_notebook(code: Iterable[str]) -> dict[str, Any]:
    """A notebook of nothing but these code cells."""
    bare: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": []}
    cells = [bare | {"execution_count": None, "source": text} for text in code]
    return {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}


def stored_or_judged(code: list[str], exercise: str, folder: Path) -> Marks:
    """The mark from the store in `folder`, else from this process's judge."""
    marks_store = MarksStore(folder)
    name = store.key(code, exercise, MODE)
    known = marks_store.get(name)
    if known is not None:
        return known
    fresh = mark_code(code, exercise, warm_marker())
    marks_store.put(name, fresh)
    return fresh
