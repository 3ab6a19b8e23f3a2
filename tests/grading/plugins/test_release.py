"""Feedback is released to everybody who handed in by the exchange, whoever else is in the class."""

from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.utils import notebook_hash

from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.course_config import load_config
from tests.support.small_course import ASSIGNMENT, FakeJudging, make

pytestmark = [
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),  # nbgrader's own
    # nbgrader's API misspells an argument of its own
    pytest.mark.filterwarnings("ignore:Passing unrecognized arguments:DeprecationWarning"),
]
BY_EXCHANGE = ("ada", "tony")


def test_a_submission_from_a_platform_stops_nobodys_feedback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    course = make(tmp_path)
    for name in (*BY_EXCHANGE, "kurt"):
        path = course.hand_in(name, f"right = {name!r}")
        if name in BY_EXCHANGE:  # as `nbgrader submit` and `collect` leave it
            path.with_name("timestamp.txt").write_text("2026-11-02 10:00:00.0 UTC")
            path.with_name("submission_secret.txt").write_text(f"secret of {name}")
    grader = Autograder(course.folder, ASSIGNMENT)
    list(grader.grade(grader.students(), FakeJudging()))
    config = load_config(course.folder, None)
    api = NbGraderAPI(config=config)
    for step in (api.generate_feedback, api.release_feedback):
        done = step(ASSIGNMENT)
        assert done["success"], done
    assert "NOT RELEASED: 'kurt'" in done["log"]
    place = Path(config.Exchange.root) / config.CourseDirectory.course_id / "feedback"
    secrets = {name: f"secret of {name}" for name in BY_EXCHANGE}
    pages = {f"{notebook_hash(secret=s, notebook_id=ASSIGNMENT)}.html" for s in secrets.values()}
    assert {path.name for path in place.iterdir()} == pages
