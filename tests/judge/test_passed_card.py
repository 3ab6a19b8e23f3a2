"""What a card shows of a kernel that is right: which program stores what, in a case of several."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import pytest

from graders.judge import discovery, passed_card
from graders.judge.pipeline import Judge
from graders.judge.submission.loading import load
from tests.support.paths import wrong

SOLUTIONS = Path(__file__).parents[2] / "solutions"


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as made:
        yield made


def shown(judge: Judge, name: str) -> dict[str, Any] | None:
    exercise = discovery.exercise(name)
    return passed_card.access(judge, load(SOLUTIONS / f"{exercise.lesson}.py", exercise), exercise)


@pytest.mark.parametrize("name", ["vector_add", "copy", "relu2d", "transpose", "rgb2grey"])
def test_two_programs_and_more_store_each_element_once(judge: Judge, name: str) -> None:
    found = shown(judge, name)
    assert found is not None
    assert found["programs"] == len(found["rows"]) > 1
    stored = [n for row in found["rows"] for a, b in row["stored"] for n in range(a, b + 1)]
    assert sorted(stored) == list(range(prod(found["shape"])))
    assert found["case"] in {case.name for case in discovery.exercise(name).cases}


def test_lanes_that_are_off_are_told(judge: Judge) -> None:
    found = shown(judge, "vector_add")
    assert found is not None
    last = found["rows"][-1]
    assert last["on"] < last["lanes"]
    assert last["aimed"][-1][1] >= prod(found["shape"]) > last["stored"][-1][1]


def test_registers_that_are_known_are_those_of_a_thread() -> None:
    for exercise in discovery.exercises().values():
        figures = passed_card.registers(exercise)
        assert figures is None or 0 < figures["registers"] <= 255, exercise.name


@pytest.mark.parametrize(
    ("exercise", "kernel"),
    [
        ("vector_add", "grid_too_small"),
        ("vector_add", "missing_mask"),
        ("rgb2grey", "tiles_lost"),
        ("transpose", "brackets_missing"),
    ],
)
def test_a_card_is_about_one_case(judge: Judge, exercise: str, kernel: str) -> None:
    """Case, facts, picture and table: not a picture of n=1000 above a table of n=5000."""
    source = wrong(exercise, kernel)
    found = judge.judge_text(source, discovery.exercise(exercise), "<notebook>").findings[0]
    assert found.table is not None
    assert found.table.caption.endswith(f": {found.case}")
    (case,) = [one for one in discovery.exercise(exercise).cases if one.name == found.case]
    facts = dict(found.facts)
    shape = facts["shape"]
    assert str(tuple(case.args[0].shape)) in shape  # type: ignore[union-attr]
    assert f"Seen with {shape}" in found.message
    assert "program" in facts["grid"]
