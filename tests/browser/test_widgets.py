"""Widgets and cards in a real browser: their names, narrow pages, and notebooks opened again."""

from __future__ import annotations

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

CELLS = (
    "from triton_util.client.setup import prepare\nprepare()\n"
    "import torch, triton, triton.language as tl\n"
    "from triton_util import explore, figures, progress, quiz, trace\n"
    "import time, triton_util.explore.controls as controls\n"
    "figure = controls._figure\n"
    "controls._figure = lambda *drawn: (time.sleep(1), figure(*drawn))[1]  # a slow machine",
    "explore.blocks_1d(n_elements=7, BLOCK_SIZE=4)",
    'quiz("vector_add")',
    "progress()",
    "@triton.jit\n"
    "def double_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):\n"
    "    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)\n"
    "    x = tl.load(x_ptr + offsets, mask=offsets < n_elements)\n"
    "    tl.store(output_ptr + offsets, 2 * x, mask=offsets < n_elements)\n"
    "trace(double_kernel)[(2,)](torch.ones(7), torch.empty(7), 7, BLOCK_SIZE=4)",
    "figures.blocks_1d(10, 4)",
    "explore.matmul_walk(step=0)",
)
SETUP, EXPLORER, QUIZ, PROGRESS, TRACE, FIGURE, DRAWN = range(7)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("widgets")
    with Lab(folder) as lab:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in CELLS])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(notebook, lab.notebooks / "widgets.ipynb")
        browser = open_browser(folder / "profile")
        try:
            page = NotebookPage(browser, lab, "widgets.ipynb")
            page.run_all()
            assert page.errors() == {}
            yield page
        finally:
            browser.quit()


def found(page: NotebookPage, cell: int, selector: str) -> list:
    from selenium.webdriver.common.by import By

    return page.cell_element(cell).find_elements(By.CSS_SELECTOR, selector)


def test_sliders_and_groups_have_names_and_one_stop_for_tab(page):
    names = [handle.get_attribute("aria-label") for handle in found(page, EXPLORER, ".noUi-handle")]
    assert names == ["n_elements", "pid"]
    stops = [e.get_attribute("tabindex") for e in found(page, EXPLORER, ".widget-readout")]
    assert stops == ["-1", "-1"]
    groups = found(page, QUIZ, ".widget-radio-box")
    assert {group.get_attribute("role") for group in groups} == {"radiogroup"}
    told = [group.get_attribute("aria-label") for group in groups]
    assert all(name.startswith(f"Question {n}: ") for n, name in enumerate(told, 1)), told
    assert len(set(told)) == len(told)
    assert {e.get_attribute("role") for e in found(page, QUIZ, ".tw-live")} == {"status"}


def test_an_explorer_redraws_its_picture_by_steps_and_plays(page, shots):
    picture = (
        f"return {NOTEBOOK}.content.widgets[{DRAWN}].node"
        ".querySelector('svg.tw-drawing')?.getAttribute('aria-label') ?? '';"
    )

    def drawn(words: str) -> None:
        script = picture.replace("return ", "return (", 1).rstrip(";") + f").includes({words!r});"
        page.wait(script, f"a picture of {words!r}", 90)

    drawn("In step 0 it uses")
    (status,) = found(page, DRAWN, "pre[role=status]")
    assert "K takes 3 steps" in status.get_attribute("textContent")
    assert status.size["width"] <= 1  # for screen readers; others see the picture
    buttons = {one.text.strip(): one for one in found(page, DRAWN, "button")}
    buttons["Step ▶"].click()
    drawn("In step 1 it uses")
    buttons["◀ Back"].click()
    drawn("In step 0 it uses")
    buttons["▶ Play"].click()
    drawn("In step 1 it uses")
    drawn("In step 2 it uses")
    for theme in ("Dark", "Light"):
        page.use_theme(f"JupyterLab {theme}")
        page.screenshot(page.cell_element(DRAWN), shots / f"explorer-drawn-{theme.lower()}.png")


def test_carets_of_lists_follow_the_theme(page):
    page.use_theme("JupyterLab Dark")
    (choice,) = found(page, EXPLORER, "select")
    look = page.browser.execute_script(
        "const s = getComputedStyle(arguments[0]); return [s.backgroundImage, s.colorScheme];",
        choice,
    )
    page.use_theme("JupyterLab Light")
    assert look == ["none", "dark"]


def test_nothing_is_cut_on_a_narrow_page(page, shots):
    names = {EXPLORER: "explorer", PROGRESS: "progress", TRACE: "trace", FIGURE: "figure"}
    names[DRAWN] = "drawn"
    for width in (1280, 900, 480, 360):
        page.browser.set_window_size(width, 1000)
        for cell, name in names.items():
            page.screenshot(page.cell_element(cell), shots / f"{name}-{width}.png")
        right = page.browser.execute_script(
            "return arguments[0].map(e => e.getBoundingClientRect().right - "
            "e.closest('.jp-OutputArea-output').getBoundingClientRect().right);",
            [
                *found(page, EXPLORER, ".widget-readout"),
                *found(page, PROGRESS, ".tw-tile"),
                *found(page, TRACE, ".tw-trace"),
            ],
        )
        assert max(right) <= 1, f"{width} px: {max(right):.0f} px stand outside"
    page.browser.set_window_size(1100, 1200)


def test_widgets_of_a_notebook_that_is_opened_again_show_their_text(page, shots):
    page.browser.execute_script(f"{NOTEBOOK}.context.save();")
    page.wait(f"return !{NOTEBOOK}.context.model.dirty;", "the notebook to be saved", 30)
    page.browser.execute_script(f"{NOTEBOOK}.sessionContext.restartKernel();")
    again = NotebookPage(page.browser, page.lab, "widgets.ipynb")
    again.wait(
        f"return {NOTEBOOK}.content.widgets[{EXPLORER}].node.innerText.includes('programs');",
        "the text of the explorer",
        40,
    )
    shown = page.browser.execute_script("return document.body.innerText;")
    assert "Error displaying widget" not in shown
    assert "Run this cell again for its controls." in shown
    for cell in (EXPLORER, QUIZ, TRACE):
        page.screenshot(page.cell_element(cell), shots / f"again-{cell}.png")
