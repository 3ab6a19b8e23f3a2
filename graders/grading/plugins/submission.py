"""The exporter with which nbgrader reads a submission."""

from __future__ import annotations

import io
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat.notebooknode import NotebookNode

BYTE_ORDER_MARK = "\ufeff"


class SubmissionExporter(NotebookExporter):  # type: ignore[misc]
    """nbconvert's exporter, which also reads files with a byte order mark."""

    def from_file(
        self, file_stream: Any, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[NotebookNode, dict[str, Any]]:
        text = file_stream.read().removeprefix(BYTE_ORDER_MARK)
        made: tuple[NotebookNode, dict[str, Any]] = super().from_file(
            io.StringIO(text), resources, **options
        )
        return made
