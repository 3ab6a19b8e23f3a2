"""The bonus for speed in the gradebook: nbgrader's extra credit, beside an unchanged maximum."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.class_report import class_report, to_html
from graders.grading.parallel import Judged, Task
from graders.grading.report.tables import write_csv
from tests.support.small_course import ASSIGNMENT, SmallCourse, fake_marks, make

pytestmark = [
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
CLASS = {"fast": "right = 1  # fast", "slow": "right = 2  # slow", "wrong": "wrong = 1"}
SPEED = {
    "workload": "2**24 elements",
    "gpu": "A GPU of tests",
    "ms": 1.0,
    "model_ms": 0.9,
    "problem": "",
    "fraction": 0.9,
    "bonus": 2,
    "max_bonus": 2,
    "words": "Fast.",
}
SHARES = {"fast": SPEED, "slow": {**SPEED, "fraction": 0.4, "bonus": 0}}


def judged_on_a_gpu(tasks: Iterable[Task]) -> Iterator[Judged]:
    """Judges by a word in the code, and knows the speed of what is right."""
    for task in tasks:
        code = "\n".join(task.code)
        marks = fake_marks(code)
        shares = [speed for word, speed in SHARES.items() if word in code]
        report = {**marks.report, "speed": shares[0]} if shares else marks.report
        yield task, replace(marks, report=report)


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    made = make(tmp_path)
    for name, code in CLASS.items():
        made.hand_in(name, code)
    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    return made


def grade(course: SmallCourse) -> None:
    grader = Autograder(course.folder, ASSIGNMENT)
    list(grader.grade(grader.students(), judged_on_a_gpu))


def credits(course: SmallCourse) -> dict[str, tuple[float | None, float, float]]:
    """By student: extra credit of the hidden cell, score and maximum of the exercise."""
    found = {}
    with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
        for name in CLASS:
            where = (ASSIGNMENT, ASSIGNMENT, name)
            hidden, public = (
                gradebook.find_grade(f"vector_add-{part}", *where) for part in ("hidden", "public")
            )
            score = hidden.score + public.score
            found[name] = hidden.extra_credit, score, hidden.max_score + public.max_score
    return found


def test_a_bonus_is_extra_credit_and_the_maximum_stays(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(judging.MODE, "gpu")
    grade(course)
    assert credits(course) == {"fast": (2, 12, 10), "slow": (0, 10, 10), "wrong": (None, 0, 10)}
    found = class_report(course.folder, ASSIGNMENT, f"sqlite:///{course.folder / 'gradebook.db'}")
    assert (found.exercises[0].timed, found.exercises[0].speed) == (2, 0.65)
    assert "Speed on the GPU" in to_html(found)
    write_csv(found, tmp_path / "class.csv")
    with open(tmp_path / "class.csv", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert (rows["fast"]["vector_add speed"], rows["fast"]["vector_add bonus"]) == ("0.9", "2")
    assert rows["wrong"]["vector_add speed"] == ""


def test_without_a_gpu_extra_credit_is_the_instructors(course: SmallCourse) -> None:
    grade(course)
    assert credits(course) == {
        "fast": (None, 10, 10),
        "slow": (None, 10, 10),
        "wrong": (None, 0, 10),
    }
