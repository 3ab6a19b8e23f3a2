"""practice() and review() in a real browser: by keys, by clicks, and for axe-core."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path

import nbformat
import pytest

from graders.judge import discovery
from tests.browser.lab import CHROMIUM, DRIVER, NOTEBOOK, Lab, NotebookPage, open_browser
from triton_util.client import quizzes
from triton_util.puzzles import drawing, items

pytest.importorskip("selenium", reason="selenium is not installed: `make test` installs it")
pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER),
        reason="no Chromium with its driver (Debian: apt-get install chromium chromium-driver)",
    ),
]

PUZZLES = {item.id: item for item in items.load()}
ORDER = PUZZLES["vector_add/order/add_kernel-1-1"]
MEND = PUZZLES["vector_add/mend/wrong_operation"]
CELLS = ("from triton_util import practice, review", "practice()", "review()")
PRACTICE, REVIEW = 1, 2


def remembered() -> dict[str, object]:
    """A learner with an open puzzle, another that is due, and a question that was missed."""
    question = discovery.quiz("vector_add")[0]
    name = quizzes.name_of("vector_add", question)
    missed = {"due": "2026-01-01", "step": 0}
    return {
        "open": {"puzzle": ORDER.id},
        "puzzles": {MEND.id: missed},
        "questions": {name: missed},
    }


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("practice")
    with Lab(folder) as lab:
        home = lab.notebooks / ".tilewise"
        home.mkdir()
        tried = {"checks": 1, "passed": "2026-01-01", "best_cases": 1, "cases_total": 1}
        (home / "progress.json").write_text(json.dumps({"exercises": {"vector_add": tried}}))
        (home / "remembered.json").write_text(json.dumps(remembered()))
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in CELLS])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(notebook, lab.notebooks / "practice.ipynb")
        browser = open_browser(folder / "profile")
        try:
            page = NotebookPage(browser, lab, "practice.ipynb")
            page.run_all()
            assert page.errors() == {}
            page.wait(f"return {radios(PRACTICE)}.length > 1;", "the puzzle")
            yield page
        finally:
            browser.quit()


def radios(cell: int) -> str:
    return f"{NOTEBOOK}.content.widgets[{cell}].node.querySelectorAll('input[type=radio]')"


def lines(page: NotebookPage, cell: int = PRACTICE) -> list[str]:
    """The lines of a group, as they are shown."""
    script = f"return [...{radios(cell)}].map(one => one.parentElement.innerText);"
    return [text.replace("\u00a0", " ").strip() for text in page.browser.execute_script(script)]


def button(page: NotebookPage, name: str, cell: int = PRACTICE):
    from selenium.webdriver.common.by import By

    found = page.cell_element(cell).find_elements(By.CSS_SELECTOR, ".jupyter-button")
    return next(one for one in found if one.text == name)


def choose(page: NotebookPage, line: str, cell: int = PRACTICE) -> None:
    """Go to a line by arrow keys, from the one that is chosen.

    Once more where the lines were drawn anew in between, as behind a button that moved one.
    """
    for _ in range(3):
        with contextlib.suppress(*drawn_anew()):
            _go_to(page, line, cell)
            return
    raise AssertionError(f"{line} could not be chosen")


def drawn_anew() -> tuple[type[Exception], ...]:
    """What comes of a key that meets a line or a button while the puzzle is drawn anew."""
    from selenium.common import exceptions

    gone = exceptions.StaleElementReferenceException, exceptions.ElementNotInteractableException
    return (*gone, StopIteration, TimeoutError)


def _go_to(page: NotebookPage, line: str, cell: int) -> None:
    from selenium.webdriver.common.keys import Keys

    page.wait(
        f"return [...{radios(cell)}].some(one => one.parentElement.innerText"
        f".replaceAll('\u00a0', ' ').trim() === {json.dumps(line)});",
        f"{line} to be shown",
        60,
    )
    place = lines(page, cell).index(line)
    chosen = f"[...{radios(cell)}].findIndex(one => one.checked)"
    here = page.browser.execute_script(f"return {chosen};")
    page.browser.execute_script(f"{radios(cell)}[{max(here, 0)}].focus();")
    if here < 0:
        page.browser.switch_to.active_element.send_keys(Keys.SPACE)
        here = 0
    for _ in range(abs(place - here)):
        key = Keys.ARROW_DOWN if place > here else Keys.ARROW_UP
        page.browser.switch_to.active_element.send_keys(key)
    page.wait(f"return {chosen} === {place};", f"{line} to be chosen", 30)
    # ipywidgets holds back the last choice until the kernel has handled the one before
    time.sleep(1)


def press(page: NotebookPage, name: str, told: str, cell: int = PRACTICE) -> str:
    """Press a button by Enter, and wait until the live region says `told`.

    A key that meets a button while the puzzle is drawn anew is lost: it is pressed again, at the
    latest after a minute.
    """
    from selenium.webdriver.common.keys import Keys

    live = f"{NOTEBOOK}.content.widgets[{cell}].node.querySelector('[role=status]')"
    script = f"const said = ({live} || {{innerText: ''}}).innerText;"
    script += f"return said.includes({json.dumps(told)}) && said;"
    for _ in range(3):
        with contextlib.suppress(*drawn_anew()):
            page.browser.execute_script("arguments[0].focus();", button(page, name, cell))
            page.browser.switch_to.active_element.send_keys(Keys.ENTER)
            return page.wait(script, f"{told!r} behind {name}", 60)
    raise AssertionError(f"no {told!r} behind {name}: {page.cell_element(cell).text}")


def violations(page: NotebookPage, cell: int) -> list[str]:
    """What axe-core finds in the output of a cell."""
    axe = pytest.importorskip("axe_core_python", reason="axe-core is not installed")
    source = next(Path(axe.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf-8")
    page.browser.execute_script(source)
    output = page.cell_element(cell).find_element("css selector", ".jp-OutputArea-output")
    page.browser.set_script_timeout(120)
    found = page.browser.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(arguments[0], {resultTypes: ['violations']}).then(r => done(r.violations));",
        output,
    )
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]


def test_axe_finds_nothing_and_nothing_is_cut(page, shots):
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        page.use_theme(theme)
        for width in (1100, 480):
            page.browser.set_window_size(width, 1200)
            for cell in (PRACTICE, REVIEW):
                name = f"{cell}-{theme[11:]}-{width}.png"
                page.screenshot(page.cell_element(cell), shots / f"practice-{name}")
                assert violations(page, cell) == []
            wide = page.browser.execute_script(
                "return [...arguments[0].querySelectorAll('label, pre, button')].filter("
                "e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText);",
                page.cell_element(PRACTICE),
            )
            assert wide == []
    page.browser.set_window_size(1100, 1200)


def test_lines_are_ordered_by_keys(page, shots):
    group = page.cell_element(PRACTICE).find_element("css selector", "[role=radiogroup]")
    assert "vector_add: put the lines in order" in group.get_attribute("aria-label")
    assert lines(page) == [line.strip() for line in drawing.shuffled(ORDER)]
    for line in ORDER.extra:
        choose(page, line.strip())
        press(page, "Leave out / take in", "is left out")
    for place, line in enumerate(ORDER.asked):
        choose(page, line.strip())
        for at in range(lines(page).index(line.strip()), place, -1):
            press(page, "Move up", f"Line {at} of")
            page.wait(
                f"return {radios(PRACTICE)}[{at - 1}].checked;", "the line to be chosen still", 60
            )
    page.screenshot(page.cell_element(PRACTICE), shots / "practice-ordered.png")
    told = press(page, "Check the order", "model solution")
    assert "It comes back in 3 days." in told
    page.screenshot(page.cell_element(PRACTICE), shots / "practice-solved.png")


def test_another_one_is_there_and_a_line_is_picked(page, shots):
    button(page, "Another one").click()
    page.wait(
        f"return {NOTEBOOK}.content.widgets[{PRACTICE}].node.innerText.includes('find the bug');",
        "the puzzle that is due",
        60,
    )
    fine = MEND.lines[MEND.wrong[0][0] - 1]
    for line, told in ((fine, "Not this line"), (MEND.lines[MEND.wrong[0][0]], "x + y")):
        shown = next(one for one in lines(page) if one.endswith(line.strip()))
        place = lines(page).index(shown)
        page.browser.execute_script(f"{radios(PRACTICE)}[{place}].click();")
        press(page, "This line is wrong", told)
    assert violations(page, PRACTICE) == []
    page.screenshot(page.cell_element(PRACTICE), shots / "practice-mended.png")


def test_a_missed_question_is_answered_and_goes(page, shots):
    answers = [choice.text.replace("`", "") for choice in discovery.quiz("vector_add")[0].choices]
    assert sorted(line.partition(")")[2].strip() for line in lines(page, REVIEW)) == sorted(answers)
    right = next(c for c in discovery.quiz("vector_add")[0].choices if c.right)
    choose(page, next(x for x in lines(page, REVIEW) if right.text.replace("`", "") in x), REVIEW)
    assert "It comes back in 3 days." in press(page, "Answer", "Right", REVIEW)
    page.screenshot(page.cell_element(REVIEW), shots / "review.png")
    page._command("notebook:restart-kernel-no-dialog")
    page.browser.execute_script(f"{NOTEBOOK}.sessionContext.restartKernel();")
    page.run_all()
    shown = page.cell_element(REVIEW).text
    assert "No question waits today" in shown, shown
