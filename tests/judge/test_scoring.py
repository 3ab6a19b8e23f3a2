"""Points: by the parts that hold, none without the core, a share where traffic is wasted."""

from __future__ import annotations

import pytest

from graders.judge import discovery
from graders.judge.report import GATES, GateStatus, Verdict
from graders.judge.scoring import WASTEFUL_SHARE, points

EXERCISE = discovery.exercise("vector_add")
PASSED, FAILED = GateStatus.PASSED, GateStatus.FAILED


def worth(verdict: Verdict, failed: set[str], **gates: GateStatus) -> float | None:
    return points(EXERCISE, verdict, {**dict.fromkeys(GATES, PASSED), **gates}, failed)


def test_a_right_submission_has_all_points() -> None:
    assert worth(Verdict.PASSED, set()) == EXERCISE.max_points


def test_a_part_that_fails_costs_its_points_and_the_core_costs_all() -> None:
    edges = worth(Verdict.FAILED, {"edges"}, interpret=FAILED)
    assert edges == EXERCISE.max_points - EXERCISE.parts["edges"]
    assert worth(Verdict.FAILED, {"core"}, interpret=FAILED) == 0


@pytest.mark.parametrize("gate", ["read", "compile"])
def test_what_does_not_read_or_compile_has_no_points(gate: str) -> None:
    assert worth(Verdict.FAILED, set(), **{gate: FAILED}) == 0


def test_wasted_traffic_leaves_a_share() -> None:
    assert worth(Verdict.FAILED, set(), traffic=FAILED) == WASTEFUL_SHARE * EXERCISE.max_points


def test_what_could_not_be_graded_has_no_number() -> None:
    assert worth(Verdict.UNGRADED, {"core"}) is None


def test_what_is_only_slow_has_a_share_of_what_held() -> None:
    gates = {**dict.fromkeys(GATES, PASSED), "interpret": FAILED}
    slow = points(EXERCISE, Verdict.FAILED, gates, {"edges"}, slow=True)
    assert slow == WASTEFUL_SHARE * (EXERCISE.max_points - EXERCISE.parts["edges"])
    gates = {**dict.fromkeys(GATES, PASSED), "compile": FAILED}
    assert points(EXERCISE, Verdict.FAILED, gates, set(), slow=True) == 0.5 * EXERCISE.max_points
    assert points(EXERCISE, Verdict.FAILED, gates, {"core"}, slow=True) == 0
