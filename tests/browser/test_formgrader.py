"""Grading by hand in a real browser: the page works, and nothing on it comes from elsewhere."""

from __future__ import annotations

import os
import time
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


RUBRIC = """\
[01_vector_add]
contiguity = [
  {label = "Row stride", points = 3, comment = "You name the row stride."},
  {label = "Repair", points = 2.5},
  {label = "Too long", points = -1, comment = "Say it in one sentence."},
]
"""


def grade_of(server: Server, student: str) -> tuple[float | None, bool, str | None]:
    """The points by hand, whether a person is asked for, and the comment, in the gradebook."""
    with Gradebook(f"sqlite:///{server.course.folder / 'gradebook.db'}") as gradebook:
        which = ("contiguity", ASSIGNMENT, ASSIGNMENT, student)
        grade, comment = gradebook.find_grade(*which), gradebook.find_comment(*which)
        return grade.manual_score, grade.needs_manual_grade, comment.manual_comment


def saved(server: Server, student: str, expected: tuple[float | None, bool, str | None]) -> None:
    """Wait until the gradebook says so."""
    ends = time.monotonic() + SECONDS
    while grade_of(server, student) != expected and time.monotonic() < ends:
        time.sleep(0.2)
    assert grade_of(server, student) == expected


def test_rubric_items_are_given_and_taken_back_by_clicks_and_keys(server: Server, browser) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    (server.course.folder / "rubric.toml").write_text(RUBRIC)
    ready = (
        "window.formgrader && formgrader.keyboard_manager && MathJax.loaded && "
        "document.querySelector('.tilewise-rubric button:enabled')"
    )
    browser.get(page_of(server, "grace"))
    until(browser, ready)
    stride, repair, long = browser.find_elements(By.CSS_SELECTOR, ".tilewise-rubric button")
    assert stride.text == "+3 Row stride"
    browser.execute_script("$('html, body').stop(); arguments[0].scrollIntoView()", repair)
    stride.click()
    saved(server, "grace", (3, False, "You name the row stride."))
    repair.click()  # 5.5, of which the question has 5
    saved(server, "grace", (5, False, "You name the row stride.\nRepair"))
    long.click()
    saved(
        server, "grace", (4.5, False, "You name the row stride.\nRepair\nSay it in one sentence.")
    )
    browser.get(page_of(server, "grace"))  # what was given is shown again
    until(browser, f"{ready} && document.querySelectorAll('[aria-pressed=true]').length === 3")
    if folder := os.environ.get("TILEWISE_SCREENSHOTS"):
        centre = "document.querySelector('.tilewise-rubric').scrollIntoView({block: 'center'})"
        browser.execute_script(f"$('html, body').stop(); {centre}")
        browser.save_screenshot(f"{folder}/rubric.png")
    buttons = browser.find_elements(By.CSS_SELECTOR, ".tilewise-rubric button")
    before = browser.find_element(By.ID, "contiguity_extra_credit")
    browser.execute_script("$('html, body').stop(); arguments[0].focus()", before)
    browser.switch_to.active_element.send_keys(Keys.TAB)
    until(browser, "document.activeElement === document.querySelector('.tilewise-rubric button')")
    browser.switch_to.active_element.send_keys(Keys.SPACE)
    saved(server, "grace", (1.5, False, "Repair\nSay it in one sentence."))
    browser.switch_to.active_element.send_keys(Keys.TAB)
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    saved(server, "grace", (0, False, "Say it in one sentence."))
    assert browser.switch_to.active_element == buttons[1], "Enter moved the focus"
    buttons[2].click()
    saved(server, "grace", (None, True, ""))  # as before the first click
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def test_points_typed_by_hand_stay_beside_rubric_items(server: Server, browser) -> None:
    from selenium.webdriver.common.by import By

    (server.course.folder / "rubric.toml").write_text(RUBRIC)
    browser.get(page_of(server, "ada"))  # she has 3 points, which somebody typed
    until(browser, "document.querySelector('.tilewise-rubric button:enabled') && MathJax.loaded")
    button = browser.find_elements(By.CSS_SELECTOR, ".tilewise-rubric button")[2]
    for points, comment in ((2, "Say it in one sentence."), (3, "")):
        browser.execute_script("$('html, body').stop(); arguments[0].scrollIntoView()", button)
        button.click()
        saved(server, "ada", (points, False, comment))


def test_a_wrong_rubric_is_named_on_the_page(server: Server, browser) -> None:
    (server.course.folder / "rubric.toml").write_text("[01_vektor_add]\n")
    browser.get(page_of(server, "ada"))
    until(browser, "document.querySelector('.alert-danger')")
    said = browser.execute_script("return document.querySelector('.alert-danger').textContent")
    assert said == (
        "No rubric buttons. rubric.toml: the class has no assignment '01_vektor_add': "
        "did you mean '01_vector_add'?"
    )
    (server.course.folder / "rubric.toml").unlink()


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
