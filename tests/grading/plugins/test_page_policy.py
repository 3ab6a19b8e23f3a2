"""Formgrader's pages run nbgrader's scripts and nothing that a student wrote."""

from __future__ import annotations

import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator

import pytest
from nbgrader.api import Gradebook

from graders.grading.autograde import Autograder
from tests.grading.plugins.test_formgrader import Server
from tests.support.small_course import ASSIGNMENT, FakeJudging, make

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
SECONDS = 60.0
SCRIPT = "<script>document.title = 'stolen'</script>"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    course = make(tmp_path_factory.mktemp("course"))
    course.hand_in("ada", "right = 1")
    grader = Autograder(course.folder, ASSIGNMENT)
    assert {r.status for r in grader.grade(grader.students(), FakeJudging())} == {"graded"}
    (course.folder / "autograded" / "ada" / ASSIGNMENT / "page.html").write_text(SCRIPT)
    running = Server(course, tmp_path_factory.mktemp("server"))
    try:
        running.wait()
        yield running
    finally:
        running.process.terminate()
        running.process.wait(SECONDS)


def fetched(server: Server, path: str) -> tuple[str, str]:
    """The policy and the text of a page; what a browser does with it follows from these."""
    with urllib.request.urlopen(f"{server.address}/{path}", timeout=SECONDS) as answer:
        return answer.headers["Content-Security-Policy"], answer.read().decode()


def submission(server: Server) -> str:
    with Gradebook(f"sqlite:///{server.course.folder / 'gradebook.db'}") as gradebook:
        number = gradebook.find_submission(ASSIGNMENT, "ada").notebooks[0].id
    return f"submissions/{number}/"


PAGES = (
    *("manage_assignments", f"manage_submissions/{ASSIGNMENT}", "gradebook", "manage_students"),
    *(f"gradebook/{ASSIGNMENT}/{ASSIGNMENT}", f"gradebook/{ASSIGNMENT}"),
    *("manage_students/ada", f"manage_students/ada/{ASSIGNMENT}", "SUBMISSION"),
)


@pytest.mark.parametrize("page", PAGES)
def test_every_script_of_nbgrader_carries_the_number_of_its_answer(
    server: Server, page: str
) -> None:
    path = submission(server) if page == "SUBMISSION" else page
    numbers = set()
    for _ in range(2):
        policy, text = fetched(server, path)
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'self'" in policy  # JupyterLab shows it in a frame
        (number,) = re.findall(r"'nonce-([^']+)'", policy)
        numbers.add(number)
        scripts = re.findall(r"<script\b([^>]*)>", text)
        assert scripts
        assert all(f'nonce="{number}"' in attributes for attributes in scripts)
    assert len(numbers) == 2


@pytest.mark.parametrize("said", [SCRIPT, '";document.title="stolen"//', "\\"])
def test_what_an_address_says_stays_text(server: Server, said: str) -> None:
    """nbgrader writes the name of a student into the page, and into a script of the page."""
    _, text = fetched(server, f"manage_students/{urllib.parse.quote(said, safe='')}")
    assert f'"{said}"' not in text
    assert SCRIPT not in text


def test_a_file_that_a_student_handed_in_is_no_page(server: Server) -> None:
    policy, _ = fetched(server, f"{submission(server)}page.html")
    assert policy == "default-src 'none'; sandbox"


def test_formgrader_runs_no_configuration_that_a_student_handed_in(server: Server) -> None:
    folder = server.course.folder
    evil, proof = folder / "submitted" / "ada" / ASSIGNMENT, folder / "taken_over"
    (evil / "nbgrader_config.py").write_text(f"open({str(proof)!r}, 'w').close()")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        fetched(server, f"?path={urllib.parse.quote(str(evil))}")
    assert not proof.exists()
    policy, _ = fetched(server, f"?path={urllib.parse.quote(str(folder))}")
    assert "'nonce-" in policy
