"""Lessons from their badge to their end in an environment like Colab's (see colab_runtime).

`make colab` sets TILEWISE_COLAB to the Python of an environment that was made from Colab's list
of packages, torch and triton included, and runs every lesson there. Otherwise one lesson runs on
the torch and the triton of this environment. A real Colab is not tried.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode

from graders.authoring.lesson import read_lesson, read_solutions
from graders.authoring.rooms import Rooms, slug_of
from graders.authoring.setup_cell import setup_source
from graders.judge import discovery
from tests.colab.runtime import BROUGHT, ROOT, ColabRuntime, errors, learners_notebook, said

ROOMS = Rooms(ROOT)
SETTINGS = ROOMS.settings()
PREPARED = os.environ.get("TILEWISE_COLAB")
LESSONS = [path for path in ROOMS.lesson_files() if PREPARED or slug_of(path) == "vector_add"]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ColabRuntime]:
    """A fresh runtime. A prepared one gives the course back in the end."""
    prepared = Path(PREPARED).absolute() if PREPARED else None
    runtime = ColabRuntime(tmp_path_factory.mktemp("colab"), SETTINGS.address, prepared)
    runtime.remove("tilewise")
    yield runtime
    if prepared:
        runtime.remove("tilewise")


@pytest.fixture(scope="module")
def installed(colab: ColabRuntime) -> tuple[dict[str, str], NotebookNode, dict[str, str]]:
    """Packages before, a notebook with the set-up cell alone after it ran, packages after."""
    before = colab.packages()
    cells = [setup_source(SETTINGS), "import os; print(os.environ.get('TRITON_INTERPRET'))"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    colab.execute(notebook, "setup")
    return before, notebook, colab.packages()


def test_the_setup_cell_installs_the_course_and_changes_nothing_else(
    installed: tuple[dict[str, str], NotebookNode, dict[str, str]],
) -> None:
    before, notebook, after = installed
    assert not errors(notebook), said(notebook.cells[0].outputs)
    assert set(after) - set(before) <= BROUGHT
    changed = {name: (old, after.get(name)) for name, old in before.items() if after[name] != old}
    assert not changed, f"Colab's own packages must stay: {changed}"
    assert "tilewise" in after


def test_the_interpreter_is_chosen_only_without_a_gpu(
    colab: ColabRuntime, installed: tuple[dict[str, str], NotebookNode, dict[str, str]]
) -> None:
    said_so = said(installed[1].cells[1].outputs).strip()
    assert said_so == ("None" if colab.has_gpu() else "1")


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
@pytest.mark.usefixtures("installed")
def test_a_fresh_lesson_runs_to_its_end(path: Path, colab: ColabRuntime) -> None:
    notebook = learners_notebook(path.with_suffix(".ipynb"))
    colab.execute(notebook, f"{path.stem}-fresh")
    assert not errors(notebook)
    outputs = {cell.id: said(cell.get("outputs", [])) for cell in notebook.cells}
    for name in read_lesson(path).names("exercise"):
        card = outputs[f"{name}-check"]
        assert f"{name}: is still to be written" in card, card


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
@pytest.mark.usefixtures("installed")
def test_a_solved_lesson_runs_to_its_end(path: Path, colab: ColabRuntime) -> None:
    names = read_lesson(path).names("exercise")
    solutions = read_solutions(ROOMS.solutions / f"{slug_of(path)}.py") if names else {}
    notebook = learners_notebook(path.with_suffix(".ipynb"), solutions)
    question = discovery.quiz(slug_of(path))[0]
    right = "abcdefgh"[[choice.right for choice in question.choices].index(True)]
    source = f'quiz("{slug_of(path)}", 1, "{right}")'
    notebook.cells.append(nbformat.v4.new_code_cell(source, id="answer"))
    colab.execute(notebook, f"{path.stem}-solved")
    assert not errors(notebook)
    outputs = {cell.id: said(cell.get("outputs", [])) for cell in notebook.cells}
    for name in names:
        assert f"{name}: passed" in outputs[f"{name}-check"], outputs[f"{name}-check"]
    assert "Right" in outputs["answer"]
    widgets = [cell for cell in notebook.cells if _shows(cell, "widget-view")]
    assert widgets, "no explorer and no quiz showed a widget"


def _shows(cell: NotebookNode, kind: str) -> bool:
    return any(kind in mime for out in cell.get("outputs", []) for mime in out.get("data", ()))


def test_outside_colab_a_missing_course_is_one_line(tmp_path: Path) -> None:
    """Also where no package named google is installed, which find_spec would stumble over."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", setup_source(SETTINGS)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: the course is missing here: start JupyterLab by `make lab`"
    )
