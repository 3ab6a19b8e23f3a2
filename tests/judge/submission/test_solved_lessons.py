"""Every lesson's own notebook with the model solutions in its cells has full points."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from click.testing import CliRunner

from graders.authoring.lesson import read_solutions
from graders.cli.grade import grade
from tests.judge.submission.test_given_cells import ROOMS

SOLVED = sorted(path.stem for path in ROOMS.solutions.glob("*.py") if path.stem != "__init__")


def solved(slug: str, folder: Path) -> Path:
    """The learner's notebook of a lesson with the model solutions in its answer cells.

    The tour has no answer cell: there the solution comes last, as a learner would add it.
    """
    notebook = nbformat.read(ROOMS.lesson_file(slug).with_suffix(".ipynb"), as_version=4)
    solutions = read_solutions(ROOMS.solutions / f"{slug}.py")
    cells = {cell.id: cell for cell in notebook.cells}
    for name, text in solutions.items():
        if name in cells:
            cells[name].source = text
        else:
            notebook.cells.append(nbformat.v4.new_code_cell(text))
    path = folder / f"{slug}.ipynb"
    nbformat.write(notebook, path)
    return path


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[dict[str, Any]]]:
    """What `tilewise grade` says of all of them, by lesson."""
    folder = tmp_path_factory.mktemp("solved")
    files = [str(solved(slug, folder)) for slug in SOLVED]
    said = CliRunner().invoke(grade, ["--json", *files]).stdout
    found: dict[str, list[dict[str, Any]]] = {slug: [] for slug in SOLVED}
    for line in said.splitlines():
        verdict = json.loads(line)
        found[Path(verdict["submission"]).stem].append(verdict)
    return found


@pytest.mark.parametrize("slug", SOLVED)
def test_a_solved_lesson_has_full_points(
    verdicts: Mapping[str, list[dict[str, Any]]], slug: str
) -> None:
    found = {verdict["exercise"]: verdict for verdict in verdicts[slug]}
    for name in read_solutions(ROOMS.solutions / f"{slug}.py"):
        verdict = found[name]
        assert verdict["verdict"] == "passed", verdict["findings"]
        assert verdict["points"] == verdict["max_points"]
