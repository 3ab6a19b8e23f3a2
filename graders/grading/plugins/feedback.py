"""The exporter of feedback pages: a class of its own, so that formgrader keeps its pages."""

from __future__ import annotations

from nbconvert.exporters import HTMLExporter


class FeedbackExporter(HTMLExporter):  # type: ignore[misc]
    """nbconvert's pages with the template that `configure.feedback` names for this class."""
