"""Points: what a verdict and the parts that hold are worth."""

from __future__ import annotations

from collections.abc import Mapping, Set

from graders.judge.records import Exercise
from graders.judge.report import GateStatus, Verdict

WASTEFUL_SHARE = 0.5  # of the points, for right values with too much traffic


def points(
    exercise: Exercise,
    verdict: Verdict,
    gates: Mapping[str, GateStatus],
    failed_parts: Set[str],
    slow: bool = False,
) -> float | None:
    """None when ungraded; the points of the parts that hold, if the core holds.

    A submission that does not read or does not compile has no parts that hold. Right values
    that were computed wastefully are worth a share only, and so is what is right wherever it came
    to an end in its time (`slow`).
    """
    if verdict is Verdict.UNGRADED:
        return None
    unusable = GateStatus.FAILED in (gates["read"], gates["compile"]) and not slow
    if verdict is Verdict.FAILED and (unusable or "core" in failed_parts):
        return 0
    held = sum(worth for part, worth in exercise.parts.items() if part not in failed_parts)
    wasteful = slow or gates["traffic"] is GateStatus.FAILED
    return held * WASTEFUL_SHARE if wasteful else held
