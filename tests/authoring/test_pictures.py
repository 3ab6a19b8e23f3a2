"""Pictures that a lesson shows before it is run: which, from what, and when they are drawn anew."""

import base64
import json
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode

from graders.authoring.pictures import KEY, add_pictures
from graders.authoring.rooms import Rooms, find_root

ROOMS = Rooms(find_root(Path(__file__)))
NOTEBOOKS = [path.with_suffix(".ipynb") for path in ROOMS.lesson_files()]
IMPORTS = "import torch\nimport triton\n\nfrom triton_util import explore, figures\n"
PICTURE = "figures.blocks_1d(7, 4)"
WORDS = "7 elements in blocks of 4. Program 0 has the offsets 0, 1, 2 and 3."


def notebook(*sources: str) -> NotebookNode:
    """A notebook of code cells, and of text where a source begins with `#`."""
    return nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell(source)
            if source.startswith("#")
            else nbformat.v4.new_code_cell(source)
            for source in (IMPORTS, *sources)
        ]
    )


def words(*sources: str, before: Path = Path("none.ipynb")) -> list[str]:
    """What the last cell shows, in words: of the picture, and below it."""
    made = notebook(*sources)
    add_pictures(made, before)
    nbformat.validate(made)
    return [output["data"]["text/plain"] for output in made.cells[-1].outputs]


def pictures(made: NotebookNode) -> list[NotebookNode]:
    cells = [cell for cell in made.cells if cell.cell_type == "code"]
    return [one for cell in cells for one in cell.outputs if "image/png" in one["data"]]


def test_a_cell_that_only_draws_has_its_picture_and_the_words() -> None:
    made = notebook(PICTURE)
    add_pictures(made, Path("none.ipynb"))
    picture, folded = made.cells[-1].outputs
    assert base64.b64decode(picture["data"]["image/png"]).startswith(b"\x89PNG")
    assert picture["data"]["text/plain"].startswith(WORDS)
    assert WORDS in folded["data"]["text/html"]
    assert made.cells[-1].execution_count is None


@pytest.mark.parametrize(
    "sources",
    [
        ("x = torch.arange(24).view(3, 8)\nfigures.memory(x)",),
        ("x = torch.arange(24).view(3, 8)", "print(1)", "figures.memory(x[:, :4])"),
        ("from triton_util.figures.rounds import rounds", "rounds(tiles=10, programs=4)"),
        ("figures.touches(6, [[n] for n in range(3)], title='three')",),
        ("predict('programs', None)", "# The answer is in the text.", PICTURE),
    ],
)
def test_what_anybody_can_work_out_is_drawn(sources: tuple[str, ...]) -> None:
    assert len(words(*sources)) == 2


@pytest.mark.parametrize(
    "sources",
    [
        ("figures.memory(x)",),
        ("x = torch.randn(3, 8)", "figures.memory(x)"),
        ("x = torch.zeros(3, 8)\nkernel[(1,)](x)", "figures.memory(x)"),
        ("x = torch.zeros(3, 8)", "for n in range(3):\n    x = double(x)", "figures.memory(x)"),
        ("x = torch.zeros(3, 8)", "def x():\n    pass", "figures.memory(x)"),
        ("figures.memory(vector_add(torch.ones(3), torch.ones(3)))",),
        (f"print('run')\n{PICTURE}",),
        (f"if triton:\n    {PICTURE}",),
        (f"%time {PICTURE}",),
        ("explore.strides()",),
        ("figures",),
        ("predict('programs', None)", PICTURE),
    ],
)
def test_what_needs_a_run_or_answers_a_prediction_is_not(sources: tuple[str, ...]) -> None:
    assert words(*sources) == []


def test_a_picture_is_taken_over_until_its_code_changes(tmp_path: Path) -> None:
    built = tmp_path / "built.ipynb"
    made = notebook(PICTURE)
    add_pictures(made, built)
    made.cells[-1].outputs[0]["data"]["text/plain"] = "as another version draws it"
    built.write_text(json.dumps(made))
    assert words(PICTURE, before=built)[0] == "as another version draws it"
    assert words("figures.blocks_1d(8, 4)", before=built)[0].startswith("8 elements")


@pytest.mark.parametrize("left", ["", "<<<<<<< HEAD\n{}", '{"cells": []}', "[]"])
def test_a_damaged_notebook_is_no_reason_to_stop(left: str, tmp_path: Path) -> None:
    built = tmp_path / "built.ipynb"
    built.write_text(left)
    assert words(PICTURE, before=built)[0].startswith(WORDS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_pictures_of_a_lesson_are_those_that_its_cells_draw(path: Path) -> None:
    kept, drawn = nbformat.read(path, as_version=4), nbformat.read(path, as_version=4)
    add_pictures(drawn, Path("none.ipynb"))
    shown = [(one.metadata[KEY], one["data"]["text/plain"]) for one in pictures(kept)]
    assert shown == [(one.metadata[KEY], one["data"]["text/plain"]) for one in pictures(drawn)]


def test_the_first_lessons_show_pictures_before_they_are_run() -> None:
    count = [len(pictures(nbformat.read(path, as_version=4))) for path in NOTEBOOKS]
    assert all(count[:9])
    assert sum(count) >= 25
