"""docs/coming_from.md sends a reader to exercises that are there, in the lessons that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graders.judge import discovery

DOCUMENT = Path(__file__).parents[2] / "docs" / "coming_from.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and not line.startswith("|---")
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_row_names_lessons_and_their_exercises(row: list[str]) -> None:
    topic, here, new = row
    if here == "here":
        return
    if here == "-":
        assert not new, f"{DOCUMENT.name}, {topic}: nothing is new where nothing is"
        return
    for place in here.split(";"):
        number = re.search(r"lesson (\d\d)", place)
        assert number, f"{DOCUMENT.name}, {topic}: name the lesson"
        slugs = {slug for slug, known in discovery.numbers().items() if known == number[1]}
        assert slugs, f"{DOCUMENT.name}, {topic}: there is no lesson {number[1]}"
        for name in re.findall(r"`([a-z0-9_]+)`", place):
            lesson = discovery.exercise(name).lesson
            assert lesson in slugs, f"{DOCUMENT.name}, {topic}: {name} is taught in {lesson}"
