"""A class on the hub, in browsers: log-in, fetch, write, check, submit, formgrader, feedback.

The hub is tests/hub's, without Docker. Each person has a browser, as on a machine of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.browser.lab import (
    CHROMIUM,
    DRIVER,
    NOTEBOOK,
    SETTINGS,
    NotebookPage,
    open_browser,
    wait_for,
)
from tests.hub.running import (
    ASSIGNMENT,
    INSTRUCTOR,
    LEARNERS,
    RunningClass,
    missing,
    running_class,
)

pytest.importorskip("selenium", reason="selenium is not installed: `make test` installs it")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER),
        reason="no Chromium with its driver (Debian: apt-get install chromium chromium-driver)",
    ),
    pytest.mark.skipif(bool(missing()), reason=missing()),
]
SECONDS = 240.0  # for what takes a few on a quiet machine
REFUSED = re.compile("403 : You do not have permission|Forbidden")  # by a page, by the API
TOUR = "document.querySelector('.jp-Notebook .jp-MarkdownOutput h1')"
SHOWN = "[...document.querySelectorAll(arguments[0])].filter(e => e.offsetParent !== null)"


class Person:
    """Somebody at a browser of their own."""

    def __init__(self, running: RunningClass, name: str, profile: Path) -> None:
        self.url, self.name = running.url, name
        self._password = running.passwords()[name]
        self.browser = open_browser(profile)

    def log_in(self, place: str) -> None:
        """Ask for a page, and fill in the hub's form, which comes first."""
        from selenium.webdriver.common.by import By

        self.browser.get(f"{self.url}{place}")
        self.until("document.querySelector('#login_submit')")
        self.browser.find_element(By.NAME, "username").send_keys(self.name)
        self.browser.find_element(By.NAME, "password").send_keys(self._password)
        self.browser.find_element(By.ID, "login_submit").click()

    def click(self, css: str, text: str = "") -> None:
        """Click the last shown element of that kind, with that text; wait until it is there."""
        from selenium.common.exceptions import WebDriverException

        with_text = f"{SHOWN}.filter(e => e.textContent.includes(arguments[1])).pop()"
        for last_try in (False, False, True):  # a page may be drawn anew in between
            found = wait_for(
                self.browser,
                f"arguments = {json.dumps([css, text])}; return {with_text};",
                f"{css} {text} for {self.name}",
                SECONDS,
            )
            try:
                found.click()
            except WebDriverException:
                if last_try:
                    raise
            else:
                return

    def until(self, condition: str, seconds: float = SECONDS) -> None:
        wait_for(self.browser, f"return !!({condition})", f"{condition} for {self.name}", seconds)

    def text_of(self, css: str) -> str:
        """The text of the only element of that kind."""
        (text,) = self.browser.execute_script(
            f"return {SHOWN}.map(e => e.innerText.trim().replace(/\\s+/g, ' '));", css
        )
        return str(text)

    def text(self, place: str) -> str:
        """What a page of the hub says to this person."""
        self.browser.get(f"{self.url}{place}")
        return str(self.browser.execute_script("return document.body.innerText;"))


class Learner(Person):
    """A learner, in a JupyterLab of the hub."""

    @property
    def home(self) -> str:
        return f"/user/{self.name}"

    def assignments(self) -> None:
        """Open nbgrader's list from the menu."""
        self.until("window.jupyterapp && document.querySelector('.lm-MenuBar-item')")
        self.click(".lm-MenuBar-item", "Nbgrader")
        self.click(".lm-Menu-item", "Assignment List")
        self.until("document.querySelector('#released_assignments_list')")

    def writes(self, kernel: str) -> str:
        """Open the fetched notebook, write the exercise, press Check; what the card says."""
        lab = SimpleNamespace(url=f"{self.url}{self.home}")
        page = NotebookPage(self.browser, lab, f"{ASSIGNMENT}/{ASSIGNMENT}.ipynb")
        stub = page.find_cell("def vector_add(")
        page.paste_over(stub, kernel)
        self.click('[data-jp-item-name="tilewise-check"] jp-button')
        card = f"{NOTEBOOK}.content.widgets[{stub + 1}].node.querySelector('.tw-card')"
        self.until(f"{card} && !{card}.textContent.includes('is being checked')")
        page.wait_until_idle(SECONDS)
        assert page.errors() == {}
        self.click('[data-jp-item-name="save"] jp-button')
        self.until(f"!{NOTEBOOK}.context.model.dirty")
        return " ".join(page.card(stub + 1).text.split())


class Instructor(Person):
    """The instructor, in formgrader."""

    def press(self, column: str) -> str:
        """Click the button of a column in the only line there is; what formgrader answers."""
        self.click(f"#main-table td.{column} a")
        return self.answered()

    def answered(self) -> str:
        """Read the title of what formgrader answers, and close it."""
        self.until("document.querySelector('.modal.in .modal-title')")
        said = self.text_of(".modal.in .modal-title")
        # Again and again: a window that still moves in takes no notice of its button.
        close = "document.querySelector('.modal.in .modal-footer button')?.click()"
        self.until(f"({close}, !document.querySelector('.modal'))")
        return said


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningClass]:
    settings = tmp_path_factory.mktemp("settings")
    for name, values in SETTINGS.items():
        path = settings / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    for folder in (settings, *settings.parents[:2], *settings.rglob("*")):
        folder.chmod(folder.stat().st_mode | 0o055)  # learners' servers read them
    options = [
        "--LabApp.expose_app_in_browser=True",
        f"--LabApp.user_settings_dir={settings}",
    ]
    with running_class(options) as started:
        yield started


def test_a_class_from_log_in_to_feedback(
    running: RunningClass, tmp_path: Path, shots: Path
) -> None:
    with ExitStack() as open_browsers:
        teacher = Instructor(running, INSTRUCTOR, tmp_path / INSTRUCTOR)
        ada, grace = (Learner(running, name, tmp_path / name) for name in LEARNERS)
        for person in (teacher, ada, grace):
            open_browsers.callback(person.browser.quit)
        try:
            releases(teacher)
            right = running.solution("vector_add")
            hand_in(ada, right, "vector_add passed", shots)
            hand_in(grace, right.replace("x + y, mask", "x - y, mask"), "cases passed", shots)
            keeps_to_their_own(ada, grace)
            grades(teacher, shots)
            for learner, points in ((ada, 6), (grace, 0)):
                assert f"hidden cases: {points} of 6 points" in feedback(learner, shots)
        finally:
            for person in (teacher, ada, grace):
                person.browser.save_screenshot(str(shots / f"{person.name}_last.png"))


def releases(teacher: Instructor) -> None:
    teacher.log_in("/services/class/")
    assert teacher.press("assign") == "Success"
    assert teacher.press("release") == "Success"


def hand_in(learner: Learner, kernel: str, card: str, shots: Path) -> None:
    """Log in, fetch, write, check, submit."""
    learner.log_in("/")
    learner.until(f"{TOUR} && {TOUR}.offsetParent !== null")  # over all else, once it is there
    assert learner.browser.current_url.endswith(f"{learner.home}/lab/tree/my_lessons/00_tour.ipynb")
    learner.assignments()
    learner.click("#released_assignments_list button", "Fetch")
    learner.click("#fetched_assignments_list a", ASSIGNMENT)
    learner.browser.save_screenshot(str(shots / f"{learner.name}_fetched.png"))
    assert card in learner.writes(kernel)
    learner.browser.save_screenshot(str(shots / f"{learner.name}_checked.png"))
    learner.browser.get(f"{learner.url}{learner.home}/lab")
    learner.assignments()
    learner.click("#fetched_assignments_list button", "Submit")
    learner.until(
        f"document.querySelector('#submitted_assignments_list').innerText.includes('{ASSIGNMENT}')"
    )
    learner.browser.save_screenshot(str(shots / f"{learner.name}_submitted.png"))


def keeps_to_their_own(ada: Learner, grace: Learner) -> None:
    notebook = f"api/contents/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
    assert "def vector_add(" in ada.text(f"{ada.home}/{notebook}")
    for place in ("lab", notebook, notebook.replace("api/contents", "files")):
        said = grace.text(f"{ada.home}/{place}")
        assert "def vector_add(" not in said
        assert REFUSED.search(said), said
    for place in ("", "formgrader", "lab", "api/contents"):
        for learner in (ada, grace):
            assert REFUSED.search(learner.text(f"/services/class/{place}"))


def grades(teacher: Instructor, shots: Path) -> None:
    """Collect, autograde each, and give the feedback out."""
    assert teacher.press("collect") == "Success"
    teacher.until("document.querySelector('#main-table .num-submissions').innerText == '2'")
    teacher.click("#main-table .num-submissions a")
    for name in LEARNERS:
        teacher.click(f"#main-table tr:has([data-order='{name}']) td.autograde a")
        assert teacher.answered() == "Success"
    teacher.browser.save_screenshot(str(shots / "formgrader.png"))
    teacher.browser.get(f"{teacher.url}/services/class/")
    assert teacher.press("generate-feedback") == "Success"
    assert teacher.press("release-feedback") == "Success"
    teacher.browser.save_screenshot(str(shots / "released.png"))


def feedback(learner: Learner, shots: Path) -> str:
    """Fetch the feedback, go to its folder and open its page; what stands on it."""
    from selenium.webdriver import ActionChains

    learner.browser.get(f"{learner.url}{learner.home}/lab")
    learner.assignments()
    learner.click("#submitted_assignments_list button", "Fetch Feedback")
    learner.click("#submitted_assignments_list a", "view feedback")
    page = f".jp-DirListing-item[title*='{ASSIGNMENT}.html']"
    learner.until(f'document.querySelector("{page}")')
    item = learner.browser.execute_script(f'return document.querySelector("{page}")')
    ActionChains(learner.browser).double_click(item).perform()
    learner.until("document.querySelector('.jp-HTMLViewer iframe')")
    learner.browser.save_screenshot(str(shots / f"{learner.name}_feedback.png"))
    learner.browser.switch_to.frame(
        learner.browser.execute_script("return document.querySelector('.jp-HTMLViewer iframe')")
    )
    learner.until("document.body.innerText.includes('vector_add')")
    return str(learner.browser.execute_script("return document.body.innerText;"))
