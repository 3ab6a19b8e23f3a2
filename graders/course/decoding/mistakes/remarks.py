"""Remarks on decoding that is right and leaves the purpose of the exercise out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graders.judge.records import LaunchFacts, Remark

AGAIN = 1.75  # times that what is loaded at all is loaded, from which on keys are read again


def _whole_rows(launches: Sequence[LaunchFacts], traffic: Mapping[str, Mapping[str, Any]]) -> bool:
    """Parts have to be merged: by a second launch, or by atomics."""
    return len(launches) == 1 and not any(figures["atomic"] for figures in traffic.values())


def _read_again(launches: Sequence[LaunchFacts], traffic: Mapping[str, Mapping[str, Any]]) -> bool:
    """Keys and values are by far the most of what there is to load."""
    loaded = sum(figures["loaded"] for figures in traffic.values())
    distinct = sum(figures["distinct_loaded"] for figures in traffic.values())
    return bool(loaded > AGAIN * distinct > 0)


NOT_SPLIT = Remark(
    code="not-split",
    title="The result is correct, but the keys of a sequence are not split",
    message=(
        "One program reads all keys of a head. One long conversation then needs only a "
        "few programs, and most multiprocessors of a GPU have nothing to do."
    ),
    next_step=(
        "Give each part of the keys a program of its own, store its output and its "
        "log-sum-exp, and merge the parts in a second kernel."
    ),
    applies=_whole_rows,
)
KEYS_READ_AGAIN = Remark(
    code="keys-read-again",
    title="The result is correct, but keys are loaded more than once",
    message=(
        "Each query head of a group loads the keys and values of the group for itself. "
        "This kernel is limited by the bytes it reads."
    ),
    next_step=(
        "Use one program for each key head. Load the queries of its group as the "
        "rows of a tile, and each block of keys once for all of them."
    ),
    applies=_read_again,
)
PURPOSE = (NOT_SPLIT, KEYS_READ_AGAIN)
