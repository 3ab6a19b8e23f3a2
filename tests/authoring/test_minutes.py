"""The time that a lesson states is near what its words, cells and exercises take."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from graders.authoring.lesson import read_lesson
from graders.authoring.lint.minutes import LessonWork, estimate, is_near, lines_to_write
from graders.authoring.lint.text import LessonText, work
from graders.authoring.rooms import slug_of
from tests.support.paths import ROOMS

SMALL = LessonWork(1800, 10, 4, 4, 1, 6, ((10, 20),))


def test_an_estimate_adds_up_what_there_is_to_do() -> None:
    assert estimate(SMALL) == 10 + 5 + 4 + 4 + 3 + 12 + (10 + 10)


def test_a_drill_takes_five_minutes_whatever_its_lines() -> None:
    with_drill = replace(SMALL, exercises=(*SMALL.exercises, (5, 30)))
    assert estimate(with_drill) == estimate(SMALL) + 5


SOLUTION = """def f():
### BEGIN SOLUTION
    # why
    a = 1

    return a
### END SOLUTION
rest
"""


def test_only_the_lines_of_a_region_count() -> None:
    assert lines_to_write(SOLUTION) == 2


@pytest.mark.parametrize(
    ("stated", "near"), [(69, False), (71, True), (100, True), (129, True), (131, False)]
)
def test_thirty_percent_is_near(stated: int, near: bool) -> None:
    assert is_near(stated, 100) == near


@pytest.mark.parametrize("path", ROOMS.lesson_files(), ids=lambda path: slug_of(path))
def test_a_lesson_takes_about_as_long_as_it_says(path: Path) -> None:
    lesson = read_lesson(path)
    stated = re.search(r"\b(\d+) minutes", lesson.cells[0].source)
    assert stated, "the first cell says no time"
    minutes = estimate(work(LessonText(ROOMS, lesson)))
    assert is_near(int(stated[1]), minutes), f"says {stated[1]}, takes {minutes:.0f}"
