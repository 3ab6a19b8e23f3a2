"""Remarks on elementwise kernels that are correct but waste a GPU's threads or memory traffic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from graders.judge.records import LaunchFacts, Remark

IDLE_FACTOR = 8  # this many times the lanes that the output needs
AGAIN = 0.75  # of the elements of the largest tensor: so many more loads count as loading again


def _one_lane(launches: Sequence[LaunchFacts], traffic: Mapping[str, Mapping[str, Any]]) -> bool:
    aim = launches[-1].aim if launches else None
    return aim is not None and aim.lanes == 1 < aim.elements


def _idle(launches: Sequence[LaunchFacts], traffic: Mapping[str, Mapping[str, Any]]) -> bool:
    aim = launches[-1].aim if launches else None
    if aim is None or aim.lanes == 1:
        return False
    return math.prod(launches[-1].grid) * aim.lanes > IDLE_FACTOR * max(aim.elements, aim.lanes)


def _through_memory(
    launches: Sequence[LaunchFacts], traffic: Mapping[str, Mapping[str, Any]]
) -> bool:
    return any(figures["loaded"] and figures["stored"] for figures in traffic.values())


def _loaded_again(
    launches: Sequence[LaunchFacts], traffic: Mapping[str, Mapping[str, Any]]
) -> bool:
    """Return whether a tensor is loaded again; a table that all programs read costs little."""
    figures = traffic.values()
    largest = max((f["distinct_loaded"] for f in figures), default=0)
    return any(f["loaded"] - f["distinct_loaded"] > AGAIN * largest for f in figures)


STORED_BEFORE_THE_END = Remark(
    code="stored-before-the-end",
    title="An intermediate value goes through memory",
    message=(
        "The result is correct. But the kernel stores an intermediate value, loads it again, and "
        "stores a second time. A fused kernel loads each input once and stores once."
    ),
    next_step=(
        "Keep intermediate values in variables: they stay in registers. Store once, at the end."
    ),
    applies=_through_memory,
    promised=True,
)
LOADED_TWICE = Remark(
    code="loaded-twice",
    title="The same elements are loaded twice",
    message=(
        "The result is correct. But the kernel loads elements that are already in registers, and "
        "the contract asks for one load of each. An elementwise kernel is limited by the bytes "
        "that it moves."
    ),
    next_step="Load a block once, `x = tl.load(...)`, and use `x` as often as you like.",
    applies=_loaded_again,
    promised=True,
)
ONE_ELEMENT_AT_A_TIME = Remark(
    code="one-element-at-a-time",
    title="The result is correct, but each store writes a single element",
    message=(
        "A Triton program works on a whole block at once: its threads share the lanes of the "
        "block. Here each load and store covers one element, so all threads but one are idle."
    ),
    next_step=(
        "Work on `pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)`: load and store a whole block at "
        "once."
    ),
    applies=_one_lane,
)
IDLE_PROGRAMS = Remark(
    code="idle-programs",
    title="The result is correct, but most programs have nothing to do",
    message=(
        "The grid has one program for each element, or nearly, where one for each block is "
        "enough. The other programs start, find that their mask is empty, and end. That costs "
        "time on a GPU."
    ),
    next_step="Launch one program for each block: `grid = (triton.cdiv(n_elements, BLOCK_SIZE),)`.",
    applies=_idle,
)
WASTE = (ONE_ELEMENT_AT_A_TIME, IDLE_PROGRAMS)
