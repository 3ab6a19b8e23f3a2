"""Races in one hundred kernels with known truth: the same answer whatever the order of programs."""

import pytest

from tests.triton_util.interpreter.race_kernels import KERNELS, launch
from triton_util.interpreter import EngineOptions, interpret

RACES = {"write-race", "lane-race", "read-write-race"}


def test_there_are_sixty_four_with_a_race_and_thirty_six_without():
    truths = [races for _, _, races in KERNELS.values()]
    assert (truths.count(True), truths.count(False)) == (64, 36)


@pytest.mark.parametrize("schedule", ["grid", "serial", "reversed", "shuffled"])
@pytest.mark.parametrize("name", KERNELS)
def test_a_race_is_found_where_there_is_one(name, schedule):
    with interpret(EngineOptions(schedule=schedule, seed=3)) as run:
        launch(name)
    found = {fault.code for fault in run.faults}
    assert found <= RACES
    assert bool(found) == KERNELS[name][2], [str(fault) for fault in run.faults]
