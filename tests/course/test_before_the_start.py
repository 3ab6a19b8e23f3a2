"""Reads before the first element come from a number of a tile, not from a stride, k or a mask."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from graders.judge import discovery
from graders.judge.diagnosis.matching import shows
from graders.judge.records import Evidence, Fault, LaunchFacts, Outside

A, B = torch.ones(330, 20), torch.ones(20, 210)
BEFORE = Outside((20, 210), 4200, lanes=256, active=512, first=-32, lowest=-128, highest=-1)
BEHIND = replace(BEFORE, first=4200, lowest=4200, highest=4210)


def named(place: Outside, programs: int) -> set[str]:
    """The mistakes that a case shows in which b was left there."""
    fault = Fault("out-of-bounds-load", "tl.load leaves b.", program=(3, 0, 0), outside=place)
    launch = LaunchFacts("kernel", (programs, 1, 1), {"BLOCK_M": 64, "BLOCK_N": 64})
    evidence = Evidence((A, B), A @ B, None, None, faults=(fault,), launches=(launch,))
    known = discovery.exercise("grouped_matmul").misconceptions
    return {mistake.code for mistake in known if shows(mistake, evidence)}


@pytest.mark.parametrize("code", ["k-not-masked", "factor-transposed", "bound-of-other-axis"])
def test_what_leads_behind_the_end_leads_not_before_the_start(code: str) -> None:
    assert code in named(BEHIND, 24)
    assert code not in named(BEFORE, 24)


def test_a_tile_before_the_first_is_one_that_is_lost() -> None:
    assert "tiles-lost" in named(BEFORE, 24)
    assert "tiles-lost" not in named(BEHIND, 24)


def test_programs_that_are_left_over_are_told_as_such() -> None:
    assert "tiles-lost" not in named(BEFORE, 30)
    assert "grid-too-large" in named(BEFORE, 30)
