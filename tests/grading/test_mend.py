"""Mangled notebooks: mended silently, or reported by name; harmless afterwards."""

from typing import Any

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode

from graders.grading.judging import code_of, graded_exercises
from graders.grading.mend import MasterCell, Notes, mend
from graders.grading.mend import released as without_hidden_tests
from graders.grading.sanitise import clean_markdown
from tests.support.processor_time import processor_seconds

GRADE = (
    "# vector_add, {0} cases: 4 points.\n### BEGIN HIDDEN TESTS\n"
    "grade_cell('vector_add', part='{0}')\n### END HIDDEN TESTS"
)
CODE = "def vector_add(x, y):\n    return x"
MASTERS = (
    MasterCell(
        "vector_add", "code", "# YOUR CODE HERE", False, False, True, None, "c1", "Now you."
    ),
    MasterCell("vector_add-public", "code", GRADE.format("public"), True, True, False, 4.0, "c2"),
    MasterCell("vector_add-hidden", "code", GRADE.format("hidden"), True, True, False, 6.0, "c3"),
    MasterCell(
        "why", "markdown", "YOUR ANSWER HERE", False, True, True, 5.0, "c4", "Why is it so?"
    ),
)


def released(master: MasterCell) -> str:
    return master.source.split("### BEGIN")[0]


def submission() -> NotebookNode:
    """A notebook as nbgrader released it, with an answer in each place."""
    code, markdown = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    cells = [
        markdown("Now you.", id="text-0"),
        code(CODE, id="vector_add"),
        code(released(MASTERS[1]), id="vector_add-public"),
        code(released(MASTERS[2]), id="vector_add-hidden"),
        markdown("Why is it so?", id="text-1"),
        markdown("Because **strides**.", id="why"),
    ]
    by_name = {master.name: master for master in MASTERS}
    for cell in cells:
        if cell.id in by_name:
            cell.metadata["nbgrader"] = NotebookNode(by_name[cell.id].metadata())
    return nbformat.v4.new_notebook(cells=cells)


def mended(notebook: NotebookNode) -> tuple[dict[str, NotebookNode], Notes]:
    notes = mend(notebook, MASTERS)
    nbformat.validate(notebook)
    graded = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    found = {cell.metadata.nbgrader.grade_id: cell for cell in graded}
    assert len(graded) == len(found) == len(MASTERS)
    return found, notes


def by_id(notebook: NotebookNode, cell_id: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell.id == cell_id)


def test_an_honest_notebook_is_mended_in_silence() -> None:
    found, notes = mended(submission())
    assert notes.to_json() == {"mended": [], "tampered": []}
    assert found["vector_add-hidden"].source == MASTERS[2].source
    assert found["why"].source == "Because **strides**."


def test_lost_metadata_comes_back_by_cell_id() -> None:
    notebook = submission()
    for cell in notebook.cells:
        cell.metadata = NotebookNode()
    found, notes = mended(notebook)
    assert found["vector_add"].source == CODE
    assert found["vector_add-public"].metadata.nbgrader.points == 4.0
    names = ", ".join(master.name for master in MASTERS)
    assert notes.mended == [f"metadata lost and restored: {names}"]
    assert notes.tampered == []


def test_lost_metadata_and_ids_come_back_by_content() -> None:
    notebook = submission()
    for number, cell in enumerate(notebook.cells):
        cell.metadata, cell.id = NotebookNode(), f"x{number}"
    found, notes = mended(notebook)
    assert found["vector_add"].source == CODE
    assert found["why"].source == "Because **strides**."
    assert notes.tampered == []


def test_deleted_cells_are_put_back_in_their_place() -> None:
    notebook = submission()
    notebook.cells = [cell for cell in notebook.cells if "-" not in cell.id or "text" in cell.id]
    _, notes = mended(notebook)
    order = [cell.metadata.nbgrader.grade_id for cell in notebook.cells if cell.metadata]
    assert order == [master.name for master in MASTERS]
    assert notes.mended == ["missing and put back: vector_add-public, vector_add-hidden"]


def test_a_deleted_answer_cell_hides_no_definition_elsewhere() -> None:
    notebook = submission()
    by_id(notebook, "vector_add").source = "x = 1"
    by_id(notebook, "text-0").update(nbformat.v4.new_code_cell(CODE, id="scratch"))
    mended(notebook)
    assert CODE in code_of(notebook)
    notebook = submission()
    notebook.cells = [cell for cell in notebook.cells if cell.id != "vector_add"]
    found, _ = mended(notebook)
    assert "def " not in found["vector_add"].source


def test_of_a_doubled_cell_the_last_one_counts() -> None:
    notebook = submission()
    copy = nbformat.from_dict(by_id(notebook, "vector_add"))
    copy.source, copy.id = "def vector_add(x, y):\n    return y", "copy"
    notebook.cells.append(copy)
    found, notes = mended(notebook)
    assert found["vector_add"].source.endswith("return y")
    assert notes.mended == ["copied, the last one counts: vector_add"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda nb: by_id(nb, "vector_add-public").update(source="10"), "was changed"),
        (
            lambda nb: by_id(nb, "vector_add-public").metadata.nbgrader.update(points=100),
            "claimed 100 points",
        ),
        (
            lambda nb: by_id(nb, "vector_add-hidden").metadata.update(tags=["skip-execution"]),
            "skip-execution",
        ),
        (
            lambda nb: by_id(nb, "text-0").metadata.update(
                nbgrader=NotebookNode(MASTERS[1].metadata() | {"grade_id": "bonus"})
            ),
            "unknown grade cell 'bonus'",
        ),
    ],
)
def test_tampering_is_undone_and_reported_by_name(change: Any, said: str) -> None:
    notebook = submission()
    change(notebook)
    found, notes = mended(notebook)
    assert any(said in note for note in notes.tampered), notes
    assert found["vector_add-public"].source == MASTERS[1].source
    assert found["vector_add-public"].metadata.nbgrader.points == 4.0
    assert "tags" not in found["vector_add-hidden"].metadata


def test_cell_types_are_restored() -> None:
    notebook = submission()
    grade = by_id(notebook, "vector_add-public")
    grade.cell_type = "markdown"
    del grade["outputs"], grade["execution_count"]
    found, notes = mended(notebook)
    assert found["vector_add-public"].cell_type == "code"
    assert notes.mended == ["markdown cell made a code cell again: vector_add-public"]


def test_outputs_and_foreign_metadata_go() -> None:
    notebook = submission()
    answer = by_id(notebook, "vector_add")
    answer.outputs = [nbformat.v4.new_output("display_data", {"text/html": "<script>x</script>"})]
    notebook.metadata["widgets"] = {"state": "<script>"}
    found, _ = mended(notebook)
    assert found["vector_add"].outputs == []
    assert "widgets" not in notebook.metadata


def test_ordinary_markdown_stays_readable() -> None:
    text = "The row stride is *twice* the width, so `a < b` and $i<n$ hold.\n\n> a quote"
    assert clean_markdown(text).replace("< n", "<n") == text


def test_the_judge_gets_code_and_no_grade_cell() -> None:
    notebook = submission()
    mended(notebook)
    assert graded_exercises(notebook) == ["vector_add"]
    code = code_of(notebook)
    assert len(code) == len(notebook.cells)
    assert [text for text in code if text] == [CODE]


def test_of_what_is_attached_the_pictures_stay() -> None:
    notebook = submission()
    cell = by_id(notebook, "why")
    cell.attachments = {"a.png": {"image/png": "iVBORw0KGgo="}, "b.png": {"image/png": "<b>"}}
    found, _ = mended(notebook)
    assert set(found["why"].attachments) == {"a.png"}


def test_text_without_end_is_cut_and_named() -> None:
    notebook = submission()
    notebook.cells += [nbformat.v4.new_markdown_cell("x" * 45_000) for _ in range(4)]
    _, notes = mended(notebook)
    assert notes.tampered == ["the text cells held more than 100,000 characters: the rest is cut"]
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert 90_000 < sum(map(len, texts)) < 110_000


def test_half_a_character_becomes_a_question_mark() -> None:
    notebook = submission()
    by_id(notebook, "vector_add").source = CODE + "  # \ud83d"
    found, notes = mended(notebook)
    assert found["vector_add"].source == CODE + "  # ?"
    assert notes.tampered == []


def test_of_far_too_many_cells_the_known_ones_stay() -> None:
    notebook = submission()
    answer = notebook.cells.pop(1)
    notebook.cells += [nbformat.v4.new_code_cell("x = 1") for _ in range(2_100)] + [answer]
    found, notes = mended(notebook)
    assert found["vector_add"].source == CODE
    assert len(notebook.cells) == 2_001
    assert notes.tampered == ["the notebook held 2,106 cells: cut to 2,000"]


def test_a_badge_becomes_a_link() -> None:
    badge = "[![Open in Colab](https://example.org/badge.svg)](https://example.org/x.ipynb)"
    assert clean_markdown(badge) == "[Open in Colab](https://example.org/x.ipynb)"


@pytest.mark.parametrize(
    "piece",
    [
        *("![", "[![", "![](attachment:", "[![a](", "![a](attachment:b", "attachment:", "\\html"),
        *("javascript ", "<", "&#", "![a]", "### BEGIN HIDDEN TESTS\n", "def vector_add"),
    ],
)
def test_cleaning_walks_over_a_text_once(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell(text)]
    )
    with processor_seconds(30):
        mend(notebook, [])
        clean_markdown(text)
        without_hidden_tests(text)


def test_hidden_tests_are_taken_out_of_what_is_released() -> None:
    text = "a\n### BEGIN HIDDEN TESTS\n1\n### END HIDDEN TESTS\nb\n### BEGIN HIDDEN TESTS\nc"
    assert without_hidden_tests(text) == "a\n\nb\n### BEGIN HIDDEN TESTS\nc"


def test_one_cell_that_defines_two_launchers_is_one_masters_only() -> None:
    second = MasterCell("scale", "code", "# YOUR CODE HERE", False, False, True)
    both = f"{CODE}\n\ndef scale(x):\n    return x"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(both)])
    mend(notebook, (*MASTERS, second))
    names = [cell.metadata["nbgrader"]["grade_id"] for cell in notebook.cells]
    assert sorted(names) == sorted(master.name for master in (*MASTERS, second))
    assert both in [cell.source for cell in notebook.cells]


@pytest.mark.parametrize("name", ["vector_add-public", "vector_add-hidden"])
@pytest.mark.parametrize("whole", [True, False])
def test_a_kernel_in_a_locked_cell_counts(name: str, whole: bool) -> None:
    notebook = submission()
    by_id(notebook, "vector_add").source = "# YOUR CODE HERE"
    cell = by_id(notebook, name)
    cell.source = CODE if whole else f"{cell.source}\n{CODE}"
    found, notes = mended(notebook)
    assert found["vector_add"].source == CODE
    assert found[name].source == next(m.source for m in MASTERS if m.name == name)
    assert f"your text in it was copied to a new cell below: {name}" in notes.mended


def test_an_answer_in_a_locked_cell_stays_readable() -> None:
    notebook = submission()
    by_id(notebook, "vector_add-hidden").source += "\n# Because of the strides."
    mended(notebook)
    place = notebook.cells.index(by_id(notebook, "vector_add-hidden"))
    assert notebook.cells[place + 1].source == "# Because of the strides."


@pytest.mark.parametrize("magic", ["%%writefile add.py", "%%file 'my add.py'"])
@pytest.mark.parametrize("in_place", [True, False])
def test_a_kernel_that_a_cell_writes_to_a_file_counts(magic: str, in_place: bool) -> None:
    notebook = submission()
    text = f"{magic}\n{CODE}"
    by_id(notebook, "vector_add").source = text if in_place else "# YOUR CODE HERE"
    if not in_place:
        notebook.cells.append(nbformat.v4.new_code_cell(text))
    found, notes = mended(notebook)
    assert found["vector_add"].source == CODE
    assert "the file that the cell writes counts as the answer: vector_add" in notes.mended
