"""Grading by hand in a real browser: the page works, and nothing on it comes from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from nbgrader.api import Gradebook

from graders.grading.autograde import Autograder
from tests.browser.lab import CHROMIUM, DRIVER, open_browser, wait_for
from tests.grading.plugins.test_formgrader import Server
from tests.support.small_course import ASSIGNMENT, FakeJudging, make

pytest.importorskip("selenium", reason="selenium is not installed: `make test` installs it")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER),
        reason="no Chromium with its driver (Debian: apt-get install chromium chromium-driver)",
    ),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
ANSWER = r"Its rows lie $\frac{x_i}{2}$ apart."
SECONDS = 60.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Two graded submissions with the same answer, of which ada's has its points."""
    course = make(tmp_path_factory.mktemp("course"))
    for student in ("ada", "grace"):
        course.hand_in(student, "right = 1", answers)
    grader = Autograder(course.folder, ASSIGNMENT)
    assert {r.status for r in grader.grade(grader.students(), FakeJudging())} == {"graded"}
    with Gradebook(grader.database) as gradebook:
        grades = gradebook.find_submission(ASSIGNMENT, "ada").notebooks[0].grades
        (found,) = (grade for grade in grades if grade.name == "contiguity")
        found.manual_score, found.needs_manual_grade = 3, False
        gradebook.db.commit()
    running = Server(course, tmp_path_factory.mktemp("server"))
    try:
        running.wait()
        yield running
    finally:
        running.process.terminate()
        running.process.wait(SECONDS)


def answers(notebook) -> None:
    next(cell for cell in notebook.cells if cell.id == "contiguity").source = ANSWER


@pytest.fixture
def browser(tmp_path):
    opened = open_browser(tmp_path)
    yield opened
    opened.quit()


def page_of(server: Server, student: str) -> str:
    """The address of the student's submission."""
    with Gradebook(f"sqlite:///{server.course.folder / 'gradebook.db'}") as gradebook:
        number = gradebook.find_submission(ASSIGNMENT, student).notebooks[0].id
    return f"{server.address}/submissions/{number}/"


def until(browser, condition: str) -> None:
    wait_for(browser, f"return !!({condition})", condition, SECONDS)


def test_an_answer_is_graded_by_hand_with_nothing_from_elsewhere(server: Server, browser) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.get(page_of(server, "grace"))
    until(browser, "window.formgrader && formgrader.keyboard_manager && MathJax.loaded")
    come = browser.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    own = server.address.removesuffix("formgrader")
    assert len(come) > 5
    assert [address for address in come if not address.startswith((own, "data:"))] == []
    fraction = "const [above, below] = document.querySelector('math mfrac').children;"
    places = "[above.getBoundingClientRect().bottom, below.getBoundingClientRect().top]"
    above, below = browser.execute_script(f"{fraction} return {places}")
    assert 0 < above <= below + 1, "no browser draws TeX so"
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    until(browser, "document.activeElement === document.body")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    until(browser, "document.activeElement === formgrader.last_selected[0]")
    link = browser.find_element(By.LINK_TEXT, "3 of 5 points")
    browser.execute_script("arguments[0].click()", link)  # the page may still scroll
    until(browser, f"location.href.startsWith({page_of(server, 'ada')!r})")
    until(browser, "document.body.textContent.includes('1 other gave this same answer')")


def test_the_policy_of_the_pages_stops_nothing_of_nbgrader(server: Server, browser) -> None:
    for page in ("manage_assignments", "manage_students", f"gradebook/{ASSIGNMENT}/{ASSIGNMENT}"):
        browser.get(f"{server.address}/{page}")
        until(browser, "document.querySelector('table tbody tr')")
    browser.get(page_of(server, "grace"))
    until(browser, "window.formgrader && document.querySelector('[onclick]')")
    browser.execute_script("document.querySelector('[onclick]').click()")
    until(browser, "getComputedStyle(document.querySelector('.name-shown')).display !== 'none'")
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def test_a_script_that_got_into_a_page_does_not_run(server: Server, browser) -> None:
    """As if every filter in front of it had failed."""
    browser.get(page_of(server, "grace"))
    until(browser, "window.formgrader && formgrader.keyboard_manager")
    browser.execute_script(
        "const hole = document.createElement('div'); document.body.append(hole);"
        "hole.innerHTML = '<img src=x onerror=\"window.stolen = 1\">';"
        "const script = document.createElement('script');"
        "script.textContent = 'window.stolen = 1'; hole.append(script);"
    )
    until(browser, "document.images[document.images.length - 1].complete")
    assert browser.execute_script("return window.stolen") is None
