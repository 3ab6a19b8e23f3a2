"""A learner in a real browser: lesson 01 in JupyterLab, a wrong kernel, a right one, the cards."""

import shutil

import pytest

from tests.browser.lab import CHROMIUM, DRIVER, REPOSITORY, Lab, NotebookPage, open_browser

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

LESSON = REPOSITORY / "lessons" / "01_vector_add.ipynb"
WRONG = """\
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(output_ptr + offsets, x + y)


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    output = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 256),)
    add_kernel[grid](x, y, output, x.numel(), BLOCK_SIZE=256)
    return output
"""
RIGHT = (
    WRONG.replace("    x = tl.load", "    mask = offsets < n_elements\n    x = tl.load")
    .replace("+ offsets)", "+ offsets, mask=mask)")
    .replace("x + y)", "x + y, mask=mask)")
)


# Of each picture in an output: how wide it is, and the words below it.
PICTURES = """
return [...document.querySelectorAll('.jp-OutputArea-output img')].map(image => [
  image.naturalWidth > 0 ? image.clientWidth : 0,
  image.closest('.jp-OutputArea').querySelector('details')?.textContent ?? ''
]);"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    with Lab(folder) as lab:
        shutil.copy(LESSON, lab.notebooks / LESSON.name)
        browser = open_browser(folder / "profile")
        try:
            page = NotebookPage(browser, lab, LESSON.name)
            page.before = browser.execute_script(PICTURES)
            page.run_all()
            yield page
        finally:
            browser.quit()


def check_kernel(page: NotebookPage, source: str):
    """Put a kernel into the exercise cell, run it and its check; the card."""
    exercise = page.find_cell("def vector_add(")
    checking = page.find_cell("check(vector_add)")
    page.paste_over(exercise, source)
    page.run_cell(exercise)
    page.run_cell(checking)
    assert page.errors() == {}
    return page.card(checking)


def colours(page: NotebookPage, card) -> tuple[list[int], list[int]]:
    """Text and background colour of a card, as red, green, blue."""
    return page.browser.execute_script(
        "const style = getComputedStyle(arguments[0]);"
        "return [style.color, style.backgroundColor].map("
        "c => c.match(/[0-9]+/g).slice(0, 3).map(Number));",
        card,
    )


def test_pictures_are_there_before_anything_is_run(page):
    assert len(page.before) >= 5
    for width, words in page.before:
        assert 200 < width < 1000
        assert words.startswith("The picture in words")


def test_whole_lesson_runs_and_the_stub_is_told_apart(page):
    assert page.errors() == {}
    card = page.card(page.find_cell("check(vector_add)"))
    assert "is still to be written" in card.text.replace("\n", " ")
    assert "could not be checked" not in card.text


def test_wrong_kernel_gets_its_card(page, shots):
    card = check_kernel(page, WRONG)
    assert "not there yet" in card.text
    assert "interpret: failed" in card.get_attribute("textContent")
    assert "mask" in card.text
    assert "Next:" in card.text
    assert "x = tl.load(x_ptr + offsets)" in card.text
    assert "Traceback" not in card.text
    for theme in ("Light", "Dark"):
        page.use_theme(f"JupyterLab {theme}")
        page.screenshot(card, shots / f"wrong-{theme.lower()}.png")


def test_right_kernel_gets_its_card(page, shots):
    card = check_kernel(page, RIGHT)
    assert "vector_add passed" in card.text.replace("\n", " ")
    assert "interpret: passed" in card.get_attribute("textContent")
    for theme in ("Light", "Dark"):
        page.use_theme(f"JupyterLab {theme}")
        page.screenshot(card, shots / f"right-{theme.lower()}.png")


def test_card_follows_the_theme(page):
    card = check_kernel(page, RIGHT)
    page.use_theme("JupyterLab Dark")
    text, ground = colours(page, card)
    assert min(text) > 180
    assert max(ground) < 60
    page.use_theme("JupyterLab Light")
    text, ground = colours(page, card)
    assert max(text) < 80
    assert min(ground) > 200


def test_details_open_by_keyboard(page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    card = check_kernel(page, RIGHT)
    for name in ("About this check", "What the compiler made of it"):
        summaries = card.find_elements(By.CSS_SELECTOR, "summary")
        summary = next(one for one in summaries if one.text == name)
        page.browser.execute_script("arguments[0].focus()", summary)
        assert page.browser.switch_to.active_element == summary
        summary.send_keys(Keys.ENTER)
    table = summary.find_element(By.XPATH, "..").find_element(By.CSS_SELECTOR, "table")
    assert table.is_displayed()
    assert "sm_80" in table.text


def test_quiz_answers_a_choice(page, shots):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    cell = page.cell_element(page.find_cell('quiz("vector_add")'))
    buttons = cell.find_elements(By.CSS_SELECTOR, "input[type=radio]")
    assert len(buttons) >= 4
    before = len(cell.find_elements(By.CSS_SELECTOR, ".tw-passed, .tw-failed"))
    page.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", buttons[0])
    buttons[0].send_keys(Keys.SPACE)
    page.wait(
        "return document.querySelectorAll('.jupyter-widgets .tw-passed, "
        ".jupyter-widgets .tw-failed').length > " + str(before) + ";",
        "the answer to the quiz question",
        seconds=20,
    )
    for theme in ("Light", "Dark"):
        page.use_theme(f"JupyterLab {theme}")
        page.screenshot(buttons[0], shots / f"quiz-{theme.lower()}.png")


def test_progress_counts_the_solved_exercise(page, shots):
    check_kernel(page, RIGHT)
    cell = page.find_cell("progress()")
    page.run_cell(cell)
    card = page.card(cell)
    assert "passed on 20" in card.get_attribute("textContent")  # in the folded table
    page.screenshot(card, shots / "progress.png")


def test_kernel_that_never_ends_does_not_end_the_notebook(page):
    endless = RIGHT.replace(
        "    mask =", "    while tl.program_id(0) < 1_000_000:\n        offsets += 0\n    mask ="
    )
    card = check_kernel(page, endless)
    assert "not there yet" in card.text
    assert "does not finish in time" in card.text
    assert "vector_add passed" in check_kernel(page, RIGHT).text.replace("\n", " ")


def test_arrow_keys_belong_to_the_widget_that_has_the_focus(page: NotebookPage) -> None:
    """JupyterLab would move to another cell, and a digit would make a heading of the cell."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    def press(element, *keys: str) -> None:
        page.browser.execute_script("arguments[0].focus()", element)
        for key in keys:
            ActionChains(page.browser).send_keys(key).perform()

    quiz = page.cell_element(page.find_cell('quiz("vector_add")'))
    radios = quiz.find_elements(By.CSS_SELECTOR, "input[type=radio]")
    press(radios[0], Keys.SPACE, Keys.ARROW_DOWN)
    assert radios[1].is_selected()
    assert not radios[0].is_selected()
    explorer = page.cell_element(page.find_cell("explore.blocks_1d(n_elements=7"))
    sizes = explorer.find_element(By.CSS_SELECTOR, "select")
    before = sizes.get_attribute("value")
    press(sizes, Keys.ARROW_DOWN)
    assert sizes.get_attribute("value") != before


TRACE_CELLS = (
    "import torch\nfrom triton_util import trace\nimport triton, triton.language as tl",
    RIGHT.replace("256", "4"),
    "record = trace(vector_add)(torch.arange(10.0), torch.ones(10))\nrecord",
    "record.order()",
)


def test_trace_is_explored_by_keyboard(page, shots):
    import nbformat
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    cells = [nbformat.v4.new_code_cell(source) for source in TRACE_CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, page.lab.notebooks / "trace.ipynb")
    tracing = NotebookPage(page.browser, page.lab, "trace.ipynb")
    tracing.run_all()
    assert tracing.errors() == {}
    cell = tracing.cell_element(2)
    program, step = cell.find_elements(By.CSS_SELECTOR, ".noUi-handle")
    program.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    step.send_keys(Keys.ARROW_RIGHT)
    tracing.wait(
        "return [...document.querySelectorAll('[role=status]')].some(status =>"
        " status.textContent.startsWith('program 2, step 2 of 3: loads 2 elements of y_ptr'));",
        "the map of program 2, step 2",
        seconds=20,
    )
    for theme in ("Light", "Dark"):
        tracing.use_theme(f"JupyterLab {theme}")
        tracing.screenshot(cell, shots / f"trace-{theme.lower()}.png")


def test_nothing_failed_in_the_browser(page):
    severe = [
        entry["message"]
        for entry in page.browser.get_log("browser")
        if "favicon" not in entry["message"]
    ]
    assert [message for message in severe if "tw-" in message or "triton" in message] == []
