"""Notebooks and folders as weapons, through real `nbgrader autograde` and `generate_feedback`."""

from __future__ import annotations

import re

import pytest

from graders.judge.sandbox.pool import Workers
from tests.attacks.attack import honest
from tests.attacks.classroom import CONTROLS, Run, autograde, feedback, inputs
from tests.attacks.notebooks import CHEAT, NOTEBOOKS, NotebookAttack
from tests.support.live_markup import live
from tests.support.small_course import EXERCISE, SmallCourse

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]
LONGEST_SECONDS = 180.0  # by the clock of a machine that may be busy; unlimited, they take hours
LONGEST_NOTEBOOK = 3_000_000
# A tag, or a picture from elsewhere than the notebook itself.
LIVE = re.compile(r"<[a-zA-Z/!?]|!\[(?![^\]]*\]\(attachment:)")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with Workers() as workers:
        if workers.tier != "A":
            pytest.skip(f"no tier A here: {workers.layers}")

    def hand_in(course: SmallCourse, judge: int) -> None:
        for attack in NOTEBOOKS:
            attack.spoil(course.hand_in(attack.name, CHEAT if attack.cheats else honest()))

    done = autograde(tmp_path_factory.mktemp("notebooks"), hand_in)
    if done.graded.points(CONTROLS[0]) != EXERCISE.max_points:
        pytest.fail(f"vacuous: the honest control fails: {done.log[-2000:]}")
    return done


def test_one_bad_notebook_does_not_end_the_run(run: Run) -> None:
    assert run.graded.points(CONTROLS[-1]) == EXERCISE.max_points
    named = set(re.findall(r"error processing assignment '\S+' for student '(.+)'", run.log))
    assert named == {attack.name for attack in NOTEBOOKS if attack.expected == "open"}


@pytest.mark.parametrize("attack", NOTEBOOKS, ids=lambda attack: attack.name)
def test_nbgrader_holds(run: Run, attack: NotebookAttack) -> None:
    if attack.expected == "open":
        assert run.graded.text(attack.name) == ""
        assert run.graded.points(attack.name) is None, "nobody looked, and there are points"
        return
    points = {"full": EXERCISE.max_points, "nothing": 0, "asked": None}[attack.expected]
    assert run.graded.points(attack.name) == points
    assert bool(run.graded.report(attack.name)["findings"]) == (attack.expected != "full")
    assert bool(run.graded.notebook(attack.name)["metadata"]["tilewise"]["tampered"]) == (
        attack.tampered
    )
    assert len(run.graded.text(attack.name)) < LONGEST_NOTEBOOK


def test_no_text_of_a_student_can_run_or_load_anything(run: Run) -> None:
    """What the formgrader shows: it renders text cells as they are."""
    for attack in NOTEBOOKS:
        if attack.expected == "open":
            continue
        for cell in run.graded.notebook(attack.name)["cells"]:
            text = "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
            assert not LIVE.search(text)
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cell["id"])
            for output in cell.get("outputs", []):
                assert set(output.get("data", {})) <= {"text/plain"}


@pytest.fixture(scope="module")
def pages(run: Run) -> dict[str, str]:
    return feedback(run)


def test_the_reader_of_pages_sees_what_is_live() -> None:
    page = "<p onclick=x><img src=//x><a href=javascript:x><script>x</script><b>fine</b>"
    assert len(live(page)) == 4


def test_feedback_runs_nothing_and_loads_nothing(pages: dict[str, str]) -> None:
    assert set(pages) == {a.name for a in NOTEBOOKS if a.expected != "open"} | set(CONTROLS)
    for name, page in pages.items():
        assert live(page[page.index("<main>") :]) == [], name
        assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
        assert not re.search(r"@import|url\s*\(", page.split("</head>")[0])
        assert "HIDDEN TESTS" not in page


def test_nobody_costs_more_than_the_limits(run: Run) -> None:
    assert {name: s for name, s in run.graded.seconds().items() if s > LONGEST_SECONDS} == {}


def test_nothing_is_left_behind(run: Run) -> None:
    assert run.left == {}, "processes"
    assert inputs(run.course) == run.before, "submissions and sources"
