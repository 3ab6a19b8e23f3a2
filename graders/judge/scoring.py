"""Points: what a verdict and the parts that passed are worth."""

from __future__ import annotations

from collections.abc import Set

from graders.judge.records import Exercise
from triton_util.report import Verdict

WASTEFUL_SHARE = 0.5  # of the points, for correct values with too much traffic


def points(
    exercise: Exercise, verdict: Verdict, share: float, failed_parts: Set[str]
) -> float | None:
    """The points of the parts that passed, times a share; None when ungraded.

    share: what the failed gates leave (`Gate.keeps`). A submission that fails in its core part gets
    no points.
    """
    if verdict is Verdict.UNGRADED:
        return None
    if verdict is Verdict.FAILED and ("core" in failed_parts or not share):
        return 0
    held = sum(worth for part, worth in exercise.parts.items() if part not in failed_parts)
    return held if share == 1 else held * share
