"""Formgrader's page of a submission: beside each written answer the model answer and its rubric.

They stand in the notebook of the assignment in `source`, in the cell of the answer. Nothing is
written into the submission, and the pages that learners get do not pass here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import Preprocessor
from nbformat.notebooknode import NotebookNode
from nbgrader.coursedir import CourseDirectory

HEADING = "**Model answer and rubric** (learners do not see them here)"


class ShowRubric(Preprocessor):  # type: ignore[misc]
    """Puts a cell behind each answer that a person grades."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Only what formgrader shows has the number of a submission."""
        if "submission_id" not in resources:
            return nb, resources
        known = self._model_answers(resources["assignment_id"], resources["notebook_id"])
        cells = []
        for cell in nb.cells:
            cells.append(cell)
            text = known.get(written_answer(cell))
            if text is not None:
                cells.append(nbformat.v4.new_markdown_cell(f"{HEADING}\n\n{text}"))
        return NotebookNode({**nb, "cells": cells}), resources

    def _model_answers(self, assignment: str, notebook: str) -> dict[str | None, str]:
        """The text by the name of the cell; {} where the source is not there or damaged."""
        place = CourseDirectory(config=self.config)
        folder = place.format_path(place.source_directory, ".", assignment)
        try:
            source = nbformat.read(Path(folder) / f"{notebook}.ipynb", as_version=4)
        except (OSError, ValueError):
            return {}
        named = ((written_answer(cell), cell.source) for cell in source.cells)
        return {name: text for name, text in named if name is not None}


def written_answer(cell: Mapping[str, Any]) -> str | None:
    """nbgrader's name of a cell with an answer in words that is graded; None for any other."""
    marks = cell["metadata"].get("nbgrader", {})
    written = cell["cell_type"] == "markdown" and marks.get("grade") and marks.get("solution")
    return str(marks["grade_id"]) if written and "grade_id" in marks else None
