"""Attacks through real `nbgrader autograde`: one class, in which each is a student.

`test_judge` gives every attack to the judge itself. What nbgrader adds is the same for all of
them, so that one in six is enough here; `make nightly` takes all.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from graders.judge.sandbox.pool import Workers
from graders.judge.scoring import WASTEFUL_SHARE
from tests.attacks.bait import Bait
from tests.attacks.catalogue import ATTACKS
from tests.attacks.classroom import CONTROLS, Run, autograde, inputs
from tests.support import drawn
from tests.support.small_course import EXERCISE, SmallCourse

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]
# An endless loop costs its time limit in each of the running gates, more on a busy machine.
LONGEST_SECONDS = 240.0
ONE_IN = 1 if drawn.mode() == "nightly" else 6
STUDENTS = dict(itertools.islice(ATTACKS.items(), 0, None, ONE_IN))
LONGEST_NOTEBOOK = 500_000  # the longest cell that is kept, one line of JSON for each of its lines


@pytest.fixture(scope="module")
def baits() -> Iterator[dict[str, Bait]]:
    """One for each attack, all with the same secret."""
    with ExitStack() as stack:
        token = stack.enter_context(Bait()).token
        yield {name: stack.enter_context(Bait(token)) for name in STUDENTS}


@pytest.fixture(scope="module")
def run(baits: dict[str, Bait], tmp_path_factory: pytest.TempPathFactory) -> Run:
    with Workers() as workers:
        if workers.tier != "A":
            pytest.skip(f"no tier A here: {workers.layers}")

    def hand_in(course: SmallCourse, judge: int) -> None:
        for name, attack in STUDENTS.items():
            course.hand_in(name, baits[name].source(attack, judge))

    done = autograde(tmp_path_factory.mktemp("attackers"), hand_in)
    if done.graded.points(CONTROLS[0]) != EXERCISE.max_points:
        pytest.fail(f"vacuous: the honest control fails: {done.log[-2000:]}")
    return done


def test_everybody_was_graded_in_one_run(run: Run) -> None:
    assert run.status == 0, run.log[-2000:]
    assert set(run.graded.scores) == {*STUDENTS, *CONTROLS}


def test_the_last_honest_one_gets_what_the_first_one_got(run: Run) -> None:
    for control in CONTROLS:
        assert run.graded.points(control) == EXERCISE.max_points
        assert run.graded.report(control)["sandbox"] == "A"


@pytest.mark.parametrize("name", STUDENTS)
def test_nbgrader_holds(run: Run, baits: dict[str, Bait], name: str) -> None:
    text = run.graded.text(name)
    assert baits[name].touched(text) == set()
    assert len(text) < LONGEST_NOTEBOOK
    if run.graded.points(name) == EXERCISE.max_points:
        assert ATTACKS[name].may_pass, "the attack passed"
        return
    report = run.graded.report(name)
    wasteful = ATTACKS[name].may_pass and report["gates"]["traffic"] == "failed"
    allowed = WASTEFUL_SHARE * EXERCISE.max_points if wasteful else 0
    assert run.graded.points(name) == allowed, "open, or with some points"
    assert report["verdict"] == "failed"
    assert report["findings"], "a refusal must say why"
    told = run.graded.told(name)
    for finding in report["findings"]:
        assert f": {finding['code']}]" in told
    assert not [c for c in told if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs")]


def test_nobody_costs_more_than_the_limits(run: Run) -> None:
    slow = {name: s for name, s in run.graded.seconds().items() if s > LONGEST_SECONDS}
    assert slow == {}


def test_nothing_is_left_behind(run: Run) -> None:
    assert run.left == {}, "processes"
    assert inputs(run.course) == run.before, "submissions and sources"
    assert {path.name for path in run.course.folder.iterdir()} <= {
        ".tilewise", "autograded", "gradebook.db", "nbgrader_config.py", "release", "source",
        "submitted", "exchange", "roster.csv", "learner",
    }  # fmt: skip


def test_the_gradebook_is_what_it_was_but_for_the_scores(run: Run) -> None:
    assert run.graded.max_score == EXERCISE.max_points + 5  # and the case study's
    for scores in run.graded.scores.values():
        assert set(scores) == {"vector_add-public", "vector_add-hidden", "contiguity"}
        assert scores["contiguity"] == 0  # nobody answered it
