"""What surrounds a lesson in the learner's JupyterLab: the button Check, and no other buttons."""

from __future__ import annotations

import re
import time

import nbformat
import pytest

from tests.browser.lab import CHROMIUM, DRIVER, NOTEBOOK, Lab, NotebookPage, open_browser

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

SETUP = """\
# @title Run this cell first: it prepares the notebook, and in Colab it installs the course
from triton_util.client.setup import prepare

prepare()"""
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\nfrom triton_util import check"
STUB = """\
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    # YOUR CODE HERE
    pass


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    # YOUR CODE HERE
    pass
"""
RIGHT = """\
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    output = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 256),)
    add_kernel[grid](x, y, output, x.numel(), BLOCK_SIZE=256)
    return output
"""
SET_UP, IMPORTING, CODE, CHECK = 0, 1, 2, 3


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shell")
    with Lab(folder) as lab:
        sources = (SETUP, IMPORTS, STUB, "check(vector_add)")
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(notebook, lab.notebooks / "shell.ipynb")
        browser = open_browser(folder / "profile")
        try:
            yield NotebookPage(browser, lab, "shell.ipynb")
        finally:
            browser.quit()


def press_check(page: NotebookPage, at: int = CODE) -> str:
    """Put the cursor into a cell and click the button in the toolbar; the text of the card."""
    from selenium.webdriver.common.by import By

    page.browser.execute_script(f"{NOTEBOOK}.content.activeCellIndex = {at};")
    page.browser.execute_script(f"{NOTEBOOK}.content.widgets[{CHECK}].model.clearExecution();")
    buttons = page.browser.find_elements(
        By.CSS_SELECTOR, '.jp-NotebookPanel-toolbar [data-jp-item-name="tilewise-check"] *'
    )
    next(found for found in buttons if found.tag_name in ("jp-button", "button")).click()
    page.wait(
        f"const card = {NOTEBOOK}.content.widgets[{CHECK}].node.querySelector('.tw-card');"
        "return card && !card.textContent.includes('is being checked');",
        "the card",
    )
    page.wait_until_idle(60)
    return " ".join(page.card(CHECK).text.split())


def announced(page: NotebookPage, words: str) -> None:
    """Wait until these words stand where a screen reader hears of what changes."""
    page.wait(
        "const region = document.querySelector('[role=status][aria-live=polite]#tw-announced');"
        f"return region.textContent.includes({words!r});",
        f"{words!r}, announced",
        20,
    )


def test_one_press_sets_up_and_answers_the_stub(page, shots):
    announced(page, "")  # a region that came with its words would not be heard
    told = press_check(page)
    assert page.errors() == {}
    assert "vector_add is still to be written" in told
    announced(page, ": is still to be written")
    page.screenshot(page.card(CHECK), shots / "stub.png")


def test_nothing_of_nbgrader_is_seen(page, shots):
    shown = page.browser.execute_script("return document.body.innerText;").lower()
    for word in ("nbgrader", "validate", "formgrader", "create assignment"):
        assert word not in shown, word
    commands = page.browser.execute_script("return window.jupyterapp.commands.listCommands();")
    assert [name for name in commands if "nbgrader" in name] == []
    page.browser.save_screenshot(str(shots / "toolbar.png"))


def test_one_press_runs_what_was_edited_and_checks_it(page):
    page.paste_over(CODE, RIGHT)
    told = press_check(page)
    assert page.errors() == {}
    assert "vector_add passed" in told
    folded = page.card(CHECK).get_attribute("textContent")
    assert "Judged: cell [" in folded
    announced(page, "Check of vector_add")
    announced(page, "passed")


def test_an_edit_that_was_not_run_is_not_passed(page, shots):
    page.paste_over(CODE, RIGHT.replace("x + y", "x - y"))
    page.run_cell(CHECK)
    told = " ".join(page.card(CHECK).text.split())
    assert "vector_add was not checked" in told
    assert "was edited and not run" in told
    page.screenshot(page.card(CHECK), shots / "edited.png")
    assert "not there yet" in press_check(page)
    announced(page, "not there yet. The elements are combined, but not added")


def stale(page: NotebookPage) -> bool:
    """Whether the card is dimmed, once the page has come to rest."""
    time.sleep(0.6)
    return bool(
        page.browser.execute_script("return !!document.querySelector('.tw-card.tw-stale');")
    )


def test_the_link_of_a_card_goes_to_the_line_and_underlines_it(page, shots):
    line = "x = tl.load(x_ptr + offsets)"
    page.paste_over(CODE, RIGHT.replace("x = tl.load(x_ptr + offsets, mask=mask)", line))
    told = press_check(page)
    assert "About this check" in told
    assert "interpret: failed" not in told  # folded
    page.browser.execute_script("document.querySelector('a.tw-jump').click();")
    page.wait(
        "const marked = [...document.querySelectorAll('.cm-line .tw-underlined')];"
        f"return marked.map(one => one.textContent).join('') === {line!r}"
        f" && {NOTEBOOK}.content.activeCellIndex === {CODE}"
        f" && {NOTEBOOK}.content.mode === 'edit';",
        "the underlined line",
        20,
    )
    page.browser.save_screenshot(str(shots / "jump.png"))


def test_an_old_card_is_dimmed_until_its_code_is_back(page, shots):
    page.paste_over(CODE, RIGHT)
    press_check(page)
    assert not stale(page)
    page.paste_over(CODE, f"{RIGHT}\n)")
    assert stale(page)
    page.run_cell(CODE)  # it cannot be read: the card stays an old one
    assert stale(page)
    assert "Your code has changed since this check" in page.card(CHECK).text
    for theme in ("Dark", "Light"):
        page.use_theme(f"JupyterLab {theme}")
        page.screenshot(page.card(CHECK), shots / f"stale-{theme.lower()}.png")
    page.paste_over(CODE, RIGHT)
    assert not stale(page)


def test_an_undone_edit_is_not_called_gone(page):
    page.paste_over(CODE, RIGHT)
    press_check(page)
    page.paste_over(CODE, RIGHT.replace("x + y", "x - y"))
    page.run_cell(CODE)
    page.paste_over(CODE, RIGHT)
    page.run_cell(CHECK)
    told = " ".join(page.card(CHECK).text.split())
    assert "was edited and not run" in told
    assert "shown in no cell" not in told
    assert "vector_add passed" in press_check(page)


def test_the_button_is_the_primary_one_and_tells_how_far_it_is(page, shots):
    look = (
        "const item = document.querySelector('[data-jp-item-name=\"tilewise-check\"]');"
        "const first = document.querySelector('.jp-NotebookPanel-toolbar > *');"
        "return [item.innerText.trim(), "
        "getComputedStyle(item.querySelector('.jp-ToolbarButtonComponent-label'), '::before')"
        ".borderRightWidth !== '0px', item === first];"
    )
    assert page.browser.execute_script(look) == ["Check", True, True]
    page.paste_over(CODE, RIGHT)
    page.browser.execute_script(
        "window.twSeen = new Set(); window.twTimer = setInterval(() => window.twSeen.add("
        "document.querySelector('[data-jp-item-name=\"tilewise-check\"]').innerText.trim()), 20);"
    )
    press_check(page)
    seen = page.browser.execute_script(
        "clearInterval(window.twTimer); return [...window.twSeen].join(' ');"
    )
    assert "Checking" in seen or re.search(r"\d+/\d+", seen), seen
    page.wait(
        "return document.querySelector('[data-jp-item-name=\"tilewise-check\"]')"
        ".innerText.trim() === 'Check';",
        "the button at rest",
        20,
    )
    page.browser.save_screenshot(str(shots / "toolbar-primary.png"))


def test_a_cell_that_does_not_parse_is_not_passed(page, shots):
    page.paste_over(CODE, RIGHT)
    assert "vector_add passed" in press_check(page)
    page.paste_over(CODE, f"{RIGHT}\n)")
    page.run_cell(CODE)
    page.run_cell(CHECK)
    told = " ".join(page.card(CHECK).text.split())
    assert "vector_add was not checked" in told
    assert "cannot be read" in told
    page.screenshot(page.card(CHECK), shots / "unreadable.png")


def restart(page: NotebookPage) -> None:
    page.browser.execute_script(f"return {NOTEBOOK}.sessionContext.session.kernel.restart();")
    page.wait(
        f"return {NOTEBOOK}.sessionContext.session.kernel.status === 'idle';", "the kernel", 60
    )


def press_in_notice(page: NotebookPage, words: str, label: str) -> None:
    """Press this button in the notice that holds these words, once it is there.

    By a script, since a notice that still moves in has no visible text and no fixed place.
    """
    page.wait(
        "const notice = [...document.querySelectorAll('.Toastify__toast')]"
        f".find(one => one.textContent.includes({words!r}));"
        "const button = notice && [...notice.querySelectorAll('button')]"
        f".find(one => one.textContent.trim() === {label!r});"
        "if (button) button.click(); return !!button;",
        f"{label!r} in the notice {words!r}",
        60,
    )


def close_notices(page: NotebookPage) -> None:
    """Press until they are gone: a notice that still moves in hears nothing."""
    page.wait(
        "document.querySelectorAll('.Toastify__close-button').forEach(one => one.click());"
        "return !document.querySelector('.Toastify__toast');",
        "no notice",
        60,
    )


def test_after_a_restart_the_cells_that_prepare_the_notebook_are_offered(page):
    restart(page)
    page.run_cell(CHECK)
    press_in_notice(
        page, "Python does not know check yet. The first cells of this notebook", "Run them"
    )
    page.wait(
        f"return {NOTEBOOK}.content.widgets[{IMPORTING}].model.executionCount > 1;",
        "the imports",
        60,
    )
    close_notices(page)


def test_where_only_the_imports_have_not_run_they_alone_are_offered(page):
    restart(page)
    page.run_cell(SET_UP)
    page.run_cell(CHECK)
    press_in_notice(page, "The first cells of this notebook", "Run them")
    page.wait_until_idle(60)
    page.wait(
        f"return {NOTEBOOK}.content.widgets[{IMPORTING}].model.executionCount === 3;",
        "the imports, as the third cell that ran",
        60,
    )
    close_notices(page)


def test_where_the_exercise_has_not_run_a_card_says_so_and_the_button_runs_it(page):
    page.run_cell(CHECK)
    told = " ".join(page.card(CHECK).text.split())
    assert "vector_add" in told
    page.paste_over(CODE, RIGHT)
    assert "vector_add passed" in press_check(page)


def test_where_the_imports_have_not_run_the_button_runs_them(page):
    restart(page)
    page.run_cell(SET_UP)
    assert "vector_add passed" in press_check(page)
