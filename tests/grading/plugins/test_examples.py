"""The class report shows lines of students, never a line that the lesson gives."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from graders.authoring.rooms import Rooms, find_root
from graders.grading.plugins.preprocess import _with_examples
from tests.support.small_course import EXERCISE, fake_marks
from triton_util.report import Finding, Report

ROOMS = Rooms(find_root(Path(__file__)))


def first_cell_of_the_lesson() -> str:
    path = ROOMS.lesson_file(EXERCISE.lesson).with_suffix(".ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def test_a_line_of_the_lesson_is_nobodys_example() -> None:
    code = [first_cell_of_the_lesson(), "def vector_add(x, y):\n    return x - y\n"]
    places: list[dict[str, Any]] = [
        {"where": "cell 1", "line": 1},
        {"where": "cell 2", "line": 2},
        {"where": "cell 2", "line": 9},  # there is no such line
        {"where": "cell 3", "line": 1},  # and no such cell
        {"where": "", "line": None},
    ]
    findings = tuple(Finding("read", "x", "t", "m", **place) for place in places)
    report = replace(Report.from_json(fake_marks("wrong").report), findings=findings)
    shown = _with_examples(report.to_json(), code)["findings"]
    assert [finding["example"] for finding in shown] == ["", "return x - y", "", "", ""]
