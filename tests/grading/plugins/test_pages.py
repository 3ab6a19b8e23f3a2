"""Which template makes which page: feedback is ours, formgrader's pages stay its own."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension
from traitlets.config import Config

from graders.grading.plugins.configure import configure
from graders.grading.plugins.feedback import FeedbackExporter

RESOURCES = {
    "assignment_id": "a",
    "notebook_id": "n",
    "submission_id": "s",
    "index": 0,
    "total": 1,
    "base_url": "",
    "student": "ada",
    "last_name": "",
    "first_name": "",
    "notebook_path": "n.ipynb",
}


def course_config(root: Path) -> Config:
    config = Config()
    configure(config, root, "tilewise")
    return config


def test_formgrader_shows_its_own_page_for_manual_grading(tmp_path: Path) -> None:
    config = FormgradeExtension().build_extra_config()
    config.merge(course_config(tmp_path))  # a course's file wins over formgrader's defaults
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1")])
    page, _ = HTMLExporter(config=config).from_notebook_node(notebook, resources=dict(RESOURCES))
    assert "formgrade" in page
    assert "Submission" in page


def test_feedback_uses_ours(tmp_path: Path) -> None:
    exporter = FeedbackExporter(config=course_config(tmp_path))
    assert exporter.template_name == "feedback"
    (folder,) = exporter.extra_template_basedirs
    assert (Path(folder) / "feedback" / "index.html.j2").is_file()
