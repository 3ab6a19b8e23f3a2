"""What a card shows of a kernel that is right: which program stores what, in a case of several."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import pytest

from graders.judge import discovery, showing
from graders.judge.pipeline import Judge
from graders.judge.submission.loading import load

SOLUTIONS = Path(__file__).parents[2] / "solutions"


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as made:
        yield made


def shown(judge: Judge, name: str) -> dict[str, Any] | None:
    exercise = discovery.exercise(name)
    return showing.access(judge, load(SOLUTIONS / f"{exercise.lesson}.py", exercise), exercise)


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


def test_each_solution_has_its_registers() -> None:
    for exercise in discovery.exercises().values():
        if (SOLUTIONS / f"{exercise.lesson}.py").is_file():
            figures = showing.registers(exercise)
            assert figures is not None, f"{exercise.name}: run `tilewise build --traffic`"
            assert 0 < figures["registers"] <= 255, exercise.name
