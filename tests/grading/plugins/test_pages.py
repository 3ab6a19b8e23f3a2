"""Which template makes which page: feedback is ours, formgrader's pages stay its own."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbconvert.exporters import HTMLExporter
from nbconvert.exporters.html import BeautifulSoup
from nbgrader.server_extensions.formgrader import handlers
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension
from traitlets.config import Config

from graders.grading.course_config import load_config
from graders.grading.plugins.configure import configure
from graders.grading.plugins.feedback import FeedbackExporter
from graders.grading.sanitise import clean_html
from tests.support.loaded import loaded
from tests.support.small_course import ASSIGNMENT, make

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
    assert loaded(page) != []
    assert all(address.startswith(("/", "data:")) for address in loaded(page)), loaded(page)


def test_formgrader_tells_its_script_that_there_is_no_mathjax_to_wait_for(tmp_path: Path) -> None:
    """Without it the page took no keys where there was no internet."""
    config = FormgradeExtension().build_extra_config()
    config.merge(course_config(tmp_path))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("so $x_i < 2$")])
    page, _ = HTMLExporter(config=config).from_notebook_node(notebook, resources=dict(RESOURCES))
    script = (Path(handlers.static_path) / "js" / "formgrade.js").read_text(encoding="utf-8")
    used = set(re.findall(r"MathJax\.(Hub[\w.]*)", script))
    assert used == {"Hub.Startup.signal.Interest"}
    assert "MathJax = {Hub: {Startup: {signal: {Interest: " in page
    assert "<msub>" in page
    assert "$x_i" not in page


def test_formgrader_shows_the_rubric_beside_the_answer_and_feedback_does_not(
    tmp_path: Path,
) -> None:
    course = make(tmp_path)
    path = course.hand_in("ada", "pass")
    before = path.read_bytes()
    config = FormgradeExtension().build_extra_config()
    config.merge(load_config(course.folder, None))
    resources = {**RESOURCES, "assignment_id": ASSIGNMENT, "notebook_id": ASSIGNMENT}
    page, _ = HTMLExporter(config=config).from_filename(str(path), resources=resources)
    assert page.count("3 points for the row stride") == 1
    assert page.index("YOUR ANSWER HERE") < page.index("3 points for the row stride")
    assert path.read_bytes() == before
    graded = nbformat.read(path, as_version=4)
    for cell in graded.cells:  # what nbgrader reads from the gradebook
        cell.metadata.setdefault("nbgrader", {}).update(score=0.0, comment=None)
    told = page_of(FeedbackExporter(config=config), graded)
    assert "YOUR ANSWER HERE" in told
    assert "row stride" not in told


def test_feedback_uses_ours(tmp_path: Path) -> None:
    exporter = FeedbackExporter(config=course_config(tmp_path))
    assert exporter.template_name == "feedback"
    (folder,) = exporter.extra_template_basedirs
    assert (Path(folder) / "feedback" / "index.html.j2").is_file()


class Stock(HTMLExporter):  # type: ignore[misc]
    """nbconvert's own way with our template."""


def page_of(exporter: HTMLExporter, notebook: nbformat.NotebookNode) -> str:
    resources = {"nbgrader": dict.fromkeys(("score", "max_score", "late_penalty"), 0.0)}
    resources["nbgrader"]["notebook"] = "n"
    css = {"inlining": {"css": ["p { color: red }"]}}
    page, _ = exporter.from_notebook_node(notebook, resources=resources | css)
    return str(page)


def test_a_page_is_what_nbconvert_makes_of_it(tmp_path: Path) -> None:
    """The second one of two that share cells, too, and one whose picture has the same name."""
    config = course_config(tmp_path)
    config.Stock = config.FeedbackExporter
    markdown, code = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    stream = nbformat.v4.new_output("stream", text="3 < 4 & \x1b[31mred\x1b[0m\n")
    html = nbformat.v4.new_output("display_data", {"text/html": "<b>x</b>", "text/plain": "x"})
    for picture in ("iVBORw0KGgo=", "R0lGODlh"):
        shown = markdown("![a](attachment:a.png)", attachments={"a.png": {"image/png": picture}})
        cells = [
            markdown("# Title\n\n*a* < b and `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
            code("def f(x):\n    return x < 3  # & <b>", outputs=[stream, html]),
            code("%%time\nx = 'ä'"),
            code(f"# {picture}"),
            shown,
        ]
        for number, cell in enumerate(cells):
            cell.metadata["number"], cell.id = number, f"c{number}"
        notebook = nbformat.v4.new_notebook(cells=cells)
        notebook.metadata["tilewise"] = {"mended": [], "tampered": []}
        ours = page_of(FeedbackExporter(config=config), notebook)
        stock = page_of(Stock(config=config), notebook)
        assert cleaned_body(ours) == cleaned_body(stock)
        assert picture in ours


def cleaned_body(page: str) -> str:
    body = page.partition("<main>")[2].partition("</main>")[0]
    return str(BeautifulSoup(clean_html(body), "html.parser"))
