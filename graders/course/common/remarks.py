"""Remarks on elementwise kernels that are right and yet leave a GPU idle, or its memory busy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from graders.judge.records import LaunchFacts, Remark

IDLE_FACTOR = 8  # so many times the lanes that the output needs
TWICE = 1.75  # times its elements, from which on a tensor is loaded again


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
    return any(f["loaded"] > TWICE * f["distinct_loaded"] for f in traffic.values())


STORED_BEFORE_THE_END = Remark(
    code="stored-before-the-end",
    title="A value goes to memory in between",
    message=(
        "The result is right. But the kernel stores a value that is not the result yet, loads it "
        "again, and stores a second time. A fused kernel saves just that: one load of each input, "
        "and one store."
    ),
    next_step="Keep what lies between in a variable: that is in registers. Store once, at the end.",
    applies=_through_memory,
    promised=True,
)
LOADED_TWICE = Remark(
    code="loaded-twice",
    title="The same elements are loaded twice",
    message=(
        "The result is right. But the kernel loads the elements of its input again where they are "
        "in registers already, and the contract asks for one load of each. Bytes are what an "
        "elementwise kernel waits for."
    ),
    next_step="Load a block once, `x = tl.load(...)`, and use `x` as often as you like.",
    applies=_loaded_again,
    promised=True,
)
ONE_ELEMENT_AT_A_TIME = Remark(
    code="one-element-at-a-time",
    title="The result is right, but each store writes a single element",
    message=(
        "A program of Triton works on a whole block at once: its 128 threads share the lanes of "
        "a block among them. Here each load and store is about one element, so all threads but "
        "one are idle."
    ),
    next_step="Work on `pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)`, all lanes in one load.",
    applies=_one_lane,
)
IDLE_PROGRAMS = Remark(
    code="idle-programs",
    title="The result is right, but most programs have nothing to do",
    message=(
        "The grid has many times the programs that the output needs: a program handles a block, "
        "and the launch has one for each element, or nearly. The rest start, find their mask empty "
        "and end, which takes a GPU time, too."
    ),
    next_step="Launch one program for each block: `grid = (triton.cdiv(n_elements, BLOCK_SIZE),)`.",
    applies=_idle,
)
WASTE = (ONE_ELEMENT_AT_A_TIME, IDLE_PROGRAMS)
