"""Predictions and quiz answers in a notebook are counted, correct or not."""

from __future__ import annotations

import csv
import shutil
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest

from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.class_report import class_report, to_html
from graders.grading.report.participation import Participation, asked_in, participation
from graders.grading.report.tables import as_json, write_csv
from tests.support.small_course import ASSIGNMENT, FakeJudging, make


def code(*texts: str) -> list[dict[str, Any]]:
    return [{"cell_type": "code", "source": text} for text in texts]


LESSON = code('predict("a", None)\npredict("b", None)', 'quiz("vector_add")', 'predict("c", None)')


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((), (0, 0)),
        (('predict("a", None)',), (0, 0)),
        (('predict("a", 24_000)', "predict('b',\n   2 * 8)"), (2, 0)),
        (('predict("a", 1)', 'predict("a", 2)'), (1, 0)),  # the same one twice
        (('predict("a", 1); predict("b", 2)',), (2, 0)),
        (('predict("mine", 1)', '# predict("a", 1)'), (0, 0)),
        (('quiz("vector_add")', 'quiz("vector_add", 1, "a"); quiz("vector_add", 1, "b")'), (0, 1)),
        (('quiz("vector_add", 1, "a")\nquiz("vector_add", 2, "d")',), (0, 2)),
    ],
)
def test_answers_are_counted_once(texts: tuple[str, ...], expected: tuple[int, int]) -> None:
    found = participation(code(*texts), asked_in(LESSON))
    assert found == Participation(expected[0], 3, expected[1])


def test_a_hostile_cell_takes_no_time() -> None:
    for text in ('predict("a",' * 50_000, "predict(" + " " * 100_000, "x" * 1_000_000):
        started = time.process_time()
        participation(code(text), frozenset("a"))
        assert time.process_time() - started < 5


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_the_outputs_of_a_class_have_the_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    course = make(tmp_path)
    source = course.folder / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    lesson = nbformat.read(source, as_version=4)
    lesson.cells.append(nbformat.v4.new_code_cell('predict("lanes", None)\npredict("bytes", None)'))
    nbformat.write(lesson, source)

    def guesses(notebook: Any) -> None:
        notebook.cells.append(nbformat.v4.new_code_cell('predict("lanes", 3)'))
        notebook.cells.append(nbformat.v4.new_code_cell('quiz("vector_add", 2, "a")'))

    course.hand_in("ada", "right = 1", guesses)
    course.hand_in("kurt", "wrong = 1")
    grader = Autograder(course.folder, ASSIGNMENT)
    list(grader.grade(grader.students(), FakeJudging()))
    report = class_report(course.folder, ASSIGNMENT)
    found = {one["student"]: one["participation"] for one in as_json(report)["students"]}
    assert found == {
        "ada": {"predictions": 1, "asked": 2, "quiz": 1},
        "kurt": {"predictions": 0, "asked": 2, "quiz": 0},
    }
    write_csv(report, tmp_path / "report.csv")
    with open(tmp_path / "report.csv", encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert (rows["ada"]["predictions"], rows["ada"]["quiz_answers"]) == ("1", "1")
    assert "1 of 2" in to_html(report)
    shutil.rmtree(course.folder / "source")  # without it, what was asked is not known
    assert class_report(course.folder, ASSIGNMENT).students[0].participation.asked == 0
