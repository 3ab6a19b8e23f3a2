"""The gradebook in PostgreSQL: a real server, started here, gives what SQLite gives."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import psycopg
import pytest
from nbgrader.api import Gradebook

from graders.grading import judging
from graders.grading.autograde import Autograder
from graders.grading.parallel import Judged, Task
from graders.judge.records import GraderError
from tests.support import postgres
from tests.support.small_course import ASSIGNMENT, FakeJudging, SmallCourse, make

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
]
CLASS = {"ada": "right = 1", "kurt": "wrong = 1", "jean": "broken = 1", "tony": "wrong = 2"}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of an empty database."""
    with postgres.server() as url:
        yield url


def grades(course: SmallCourse, database: str | None) -> dict[str, list[tuple[object, ...]]]:
    for name, code in CLASS.items():
        course.hand_in(name, code)
    grader = Autograder(course.folder, ASSIGNMENT, database)
    assert len(list(grader.grade(grader.students(), FakeJudging()))) == len(CLASS)
    with Gradebook(grader.database) as gradebook:
        return {
            submission.student.id: sorted(
                (grade.name, grade.auto_score, grade.needs_manual_grade)
                for notebook in submission.notebooks
                for grade in notebook.grades
            )
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
        }


def test_postgresql_and_sqlite_hold_the_same_gradebook(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "warm_marker", lambda: pytest.fail("a real judge was asked"))
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    embedded = grades(make(tmp_path / "one"), None)
    served = grades(make(tmp_path / "two", server), server)
    assert set(served) == set(CLASS)
    assert served == embedded


class Interrupted(FakeJudging):
    """Does something after its first verdict."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        super().__init__()
        self._interrupt = interrupt

    def __call__(self, tasks: Iterable[Task]) -> Iterator[Judged]:
        for number, judged in enumerate(super().__call__(tasks)):
            if number == 1:
                self._interrupt()
            yield judged


def test_a_database_that_goes_in_the_middle_is_no_zero(server: str, tmp_path: Path) -> None:
    url = server.replace("/postgres", "/course")
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as admin:
        admin.execute("CREATE DATABASE course")
        course = make(tmp_path, url)

        def go() -> None:
            admin.execute("ALTER DATABASE course ALLOW_CONNECTIONS false")
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                          "WHERE datname = 'course'")  # fmt: skip

        names = ("ada", "jean", "tony")
        for number, name in enumerate(names):
            course.hand_in(name, f"right = {number}")
        grader = Autograder(course.folder, ASSIGNMENT, url)
        results = {r.student: r for r in grader.grade(names, Interrupted(go))}
        assert [results[name].status for name in names] == ["graded", "ungraded", "ungraded"]
        mend = "the gradebook cannot be written; fix that and run again"
        assert all(mend in results[name].reason for name in names[1:])
        admin.execute("ALTER DATABASE course ALLOW_CONNECTIONS true")
        again = FakeJudging()
        grader = Autograder(course.folder, ASSIGNMENT, url)
        results = {r.student: r for r in grader.grade(names, again)}
    assert [results[name].status for name in names] == ["unchanged", "graded", "graded"]
    assert again.asked == []  # what was judged is kept, although nobody could write it
    with Gradebook(url) as gradebook:
        found = gradebook.assignment_submissions(ASSIGNMENT)
        assert {one.student.id: one.score for one in found} == dict.fromkeys(names, 10)


def test_a_database_that_is_gone_grades_nobody(tmp_path: Path) -> None:
    course = make(tmp_path)
    url = f"postgresql+psycopg://tilewise@127.0.0.1:{postgres.free_port()}/postgres"
    with pytest.raises(GraderError, match="the gradebook cannot be reached, so nothing was graded"):
        Autograder(course.folder, ASSIGNMENT, url)
