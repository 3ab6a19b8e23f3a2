"""Shows the model answer and its rubric beside each written answer on formgrader's page.

They come from the answer's cell in the assignment's notebook in `source`. Nothing is written into
the submission, and learners' pages do not use this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import Preprocessor
from nbformat.notebooknode import NotebookNode
from nbgrader.coursedir import CourseDirectory

from graders.grading.plugins import rubric_items

HEADING = "**Model answer and rubric** (learners do not see them here)"


class ShowRubric(Preprocessor):  # type: ignore[misc]
    """Adds a cell after each answer that a person grades."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Add the cells on formgrader's pages only, which have a submission's number."""
        if "submission_id" not in resources:
            return nb, resources
        root = Path(CourseDirectory(config=self.config).root)
        rubric_items.set_page(root, resources["assignment_id"])
        known = self._model_answers(resources["assignment_id"], resources["notebook_id"])
        cells = []
        for cell in nb.cells:
            cells.append(cell)
            text = known.get(written_answer(cell))
            if text is not None:
                cells.append(nbformat.v4.new_markdown_cell(f"{HEADING}\n\n{text}"))
        return NotebookNode({**nb, "cells": cells}), resources

    def _model_answers(self, assignment: str, notebook: str) -> dict[str | None, str]:
        """Return the texts by cell name; {} if the source is missing or damaged."""
        place = CourseDirectory(config=self.config)
        folder = place.format_path(place.source_directory, ".", assignment)
        try:
            source = nbformat.read(Path(folder) / f"{notebook}.ipynb", as_version=4)
        except (OSError, ValueError):
            return {}
        named = ((written_answer(cell), cell.source) for cell in source.cells)
        return {name: text for name, text in named if name is not None}


def written_answer(cell: Mapping[str, Any]) -> str | None:
    """Return nbgrader's name of a graded cell with a written answer; None for any other."""
    marks = cell["metadata"].get("nbgrader", {})
    written = cell["cell_type"] == "markdown" and marks.get("grade") and marks.get("solution")
    return str(marks["grade_id"]) if written and "grade_id" in marks else None
