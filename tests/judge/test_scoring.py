"""Points: by the parts that hold, none without the core, a share where traffic is wasted."""

from __future__ import annotations

import pytest

from graders.judge import discovery
from graders.judge.pipeline import kept_share
from graders.judge.scoring import WASTEFUL_SHARE, points
from triton_util.report import GateStatus, Verdict

EXERCISE = discovery.exercise("vector_add")
FAILED = GateStatus.FAILED


def worth(verdict: Verdict, failed: set[str], **gates: GateStatus) -> float | None:
    return points(EXERCISE, verdict, kept_share(gates), failed)


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
    for gate in ("interpret", "compile"):
        share = kept_share({gate: FAILED}, {gate: WASTEFUL_SHARE})
        held = EXERCISE.max_points - EXERCISE.parts["edges"]
        assert points(EXERCISE, Verdict.FAILED, share, {"edges"}) == WASTEFUL_SHARE * held
        assert points(EXERCISE, Verdict.FAILED, share, {"core"}) == 0
