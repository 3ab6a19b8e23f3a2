"""The gradebook in PostgreSQL: a real server, started here, gives what SQLite gives."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_course import ASSIGNMENT, FakeJudging, SmallCourse, make

from graders.classroom import judging
from graders.classroom.autograde import Autograder
from graders.judge.model import GraderError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("classroom"),
    pytest.mark.filterwarnings("ignore"),
]
CLASS = {"ada": "right = 1", "kurt": "wrong = 1", "jean": "broken = 1", "tony": "wrong = 2"}


def program(name: str) -> str:
    found = shutil.which(name) or next(
        (str(path) for path in sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))), None
    )
    if found is None:
        pytest.skip(f"PostgreSQL's {name} is not installed here")
    return found


def unprivileged() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of an empty database."""
    initdb, pg_ctl = program("initdb"), program("pg_ctl")
    user, port = unprivileged(), free_port()
    folder = Path(tempfile.mkdtemp(prefix="tilewise-pg-"))
    if user is not None:
        shutil.chown(folder, user)
    data, log = folder / "data", folder / "log"

    def run(*command: str) -> None:
        done = subprocess.run(
            command, user=user, cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    run(initdb, "-D", str(data), "-U", "tilewise", "--auth=trust", "--no-sync")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -c fsync=off"
    run(pg_ctl, "-D", str(data), "-l", str(log), "-w", "-o", options, "start")
    try:
        yield f"postgresql+psycopg://tilewise@127.0.0.1:{port}/postgres"
    finally:
        run(pg_ctl, "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder)


def grades(course: SmallCourse, database: str | None) -> dict[str, list[tuple[object, ...]]]:
    from nbgrader.api import Gradebook

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


def test_a_database_that_is_gone_grades_nobody(tmp_path: Path) -> None:
    course = make(tmp_path)
    url = f"postgresql+psycopg://tilewise@127.0.0.1:{free_port()}/postgres"
    with pytest.raises(GraderError, match="the gradebook cannot be reached, so nothing was graded"):
        Autograder(course.folder, ASSIGNMENT, url)
