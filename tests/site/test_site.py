"""The whole site, as `make site` builds it: its pages, and what a visitor can do with them."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag

import pytest
from tilewise_site.front import counts

from graders.authoring.lesson import read_lesson
from tests.site.browsing import CHROMIUM, DRIVER, Visitor, served

pytest.importorskip("sphinx", reason="the site's packages are not installed: tilewise[site]")
pytest.importorskip("pagefind_bin_extended", reason="the site's packages are not installed")

pytestmark = pytest.mark.slow
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER),
    reason="no Chromium with its driver (Debian: apt-get install chromium chromium-driver)",
)
ROOT = Path(__file__).parents[2]
LESSONS = sorted(path.stem for path in (ROOT / "lessons").glob("[0-9][0-9]_*.ipynb"))
LESSON = "lessons/01_vector_add.html"
# Pages of every kind; with both widths and both colours in turns, not in every combination.
LOOKED_AT = (
    "index.html",
    LESSON,
    "lessons/03_memory_vs_compute.html",
    "docs/learn.html",
    "zh.html",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new build; lessons that have not changed come from the cache of earlier builds."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "site/build.py", "--target", str(target)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return target


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, str]:
    """The text of every page by its place."""
    found = sorted(site.rglob("*.html"))
    return {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in found}


def words(page: str) -> str:
    """What a page says, code included, with single spaces."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())


def test_every_lesson_and_document_has_a_page_in_the_contents(pages: dict[str, str]) -> None:
    documents = sorted(path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md"))
    wanted = {f"lessons/{name}.html" for name in LESSONS}
    wanted |= {path.with_suffix(".html").as_posix() for path in documents}
    assert wanted <= set(pages)
    contents = pages["search.html"].split('id="contents"')[1].split("</nav>")[0]
    assert wanted <= set(re.findall(r'href="([^"]+)"', contents))


def test_nothing_is_loaded_from_outside(site: Path, pages: dict[str, str]) -> None:
    """Links may lead anywhere; what a page loads by itself lies beside it."""
    loading = r"""(?:\ssrc|\ssrcset|\sposter|<(?:link|use|image|iframe|object)\s[^>]*href)=["']?"""
    for place, text in pages.items():
        found = re.findall(loading + r"\s*((?:https?:)?//[^\s\"'>]+)", text)
        assert not found, f"{place} loads {found[0]}"
    for path in [*site.rglob("*.css"), *site.glob("_static/*.js"), *site.rglob("*.html")]:
        text = path.read_text(encoding="utf-8")
        found = re.findall(
            r"(?:url\(|@import|import\(|fetch\()\s*[\"']?((?:https?:)?//[^\s\"')]+)", text
        )
        assert not found, f"{path.name} loads {found[0]}"


def test_links_between_pages_lead_somewhere(site: Path, pages: dict[str, str]) -> None:
    names = {place: set(re.findall(r'\sid="([^"]+)"', text)) for place, text in pages.items()}
    for place, text in pages.items():
        for link in re.findall(r'<a [^>]*?href="([^"]+)"', text):
            if re.match(r"[a-z]+:", link):
                continue
            target, fragment = urldefrag(html.unescape(link))
            path = (site / place).parent / unquote(target) if target else site / place
            assert path.exists(), f"{place}: {link}"
            where = path.resolve().relative_to(site.resolve()).as_posix()
            if fragment and where in names:
                assert unquote(fragment) in names[where], f"{place}: {link}"


def test_no_solution_and_no_model_answer_is_on_the_site(pages: dict[str, str]) -> None:
    said = {place: words(text) for place, text in pages.items()}
    region = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
    kept = []
    for path in sorted((ROOT / "solutions").glob("*.py")):
        if path.stem == "tour":  # no points: the page shows the model kernel, as a card does
            continue
        kept += [" ".join(body.split()) for body in region.findall(path.read_text())]
    for path in sorted((ROOT / "lessons").glob("*.py")):
        lesson = read_lesson(path)
        for study in lesson.names("case_study"):
            kept += [" ".join(lesson.model_answer(study).split())[:80]]
    # A later lesson may build on an earlier answer, which its notebook then brings along.
    notebooks = [path.read_text() for path in sorted((ROOT / "lessons").glob("*.ipynb"))]
    given = [
        " ".join(str(json.loads(text)["cells"]).replace("\\n", " ").split()) for text in notebooks
    ]
    secret = [text for text in kept if len(text) > 60 and not any(text in one for one in given)]
    assert len(secret) > 20
    for text in secret:
        for place, page in said.items():
            assert text not in page, f"{place} gives away: {text[:100]}"


def test_stubs_stay_stubs(pages: dict[str, str]) -> None:
    for name in LESSONS[1:]:
        page = pages[f"lessons/{name}.html"]
        assert "# YOUR CODE HERE" in words(page), name
        assert "There is nothing here yet" in page, f"{name}: the card of an unfinished exercise"


def test_what_a_lesson_lets_one_do_is_on_its_page(pages: dict[str, str]) -> None:
    for name in LESSONS:
        source = (ROOT / "lessons" / f"{name}.py").read_text()
        page = pages[f"lessons/{name}.html"]
        # A prediction about the learner's own kernel waits for it, in the notebook.
        assert page.count('class="tw-prediction"') >= source.count("\npredict("), name
        explorers = re.findall(r"^explore\.(?!budget\()\w+\(", source, re.MULTILINE)  # figures
        assert page.count('aria-label="Explorer: ') >= len(explorers), name
        assert page.count('class="tw-asking"') == 1, f"{name}: the quiz"
        assert "<fieldset>" in page


def test_every_picture_has_its_words(pages: dict[str, str]) -> None:
    pictures = [image for text in pages.values() for image in re.findall(r"<img[^>]*>", text)]
    assert len(pictures) > 20
    for image in pictures:
        alternative = re.search(r'alt="([^"]*)"', image)
        assert alternative, image
        assert len(alternative[1]) > 20, image


def test_the_front_page_shows_a_real_card(pages: dict[str, str]) -> None:
    front = pages["index.html"]
    assert 'class="tw-card tw-failed"' in front
    assert "<b>Next:</b>" in front
    wrong = counts(ROOT)["wrong"]
    assert f"{wrong} wrong kernels" in front
    for name in LESSONS:
        assert f'href="lessons/{name}.html"' in front


@pytest.fixture(scope="module")
def visitor(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    pytest.importorskip("selenium", reason="selenium is not installed: `make test` installs it")
    pytest.importorskip("axe_core_python", reason="axe-core is not installed")
    with served(site) as address:
        visitor = Visitor(address, tmp_path_factory.mktemp("profile"))
        try:
            yield visitor
        finally:
            visitor.browser.quit()


@needs_browser
def test_no_page_is_wider_than_a_telephone(visitor: Visitor, pages: dict[str, str]) -> None:
    for place in pages:
        visitor.open(place, width=360)
        assert visitor.sideways() <= 0, place


@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(visitor: Visitor, dark: bool) -> None:
    for number, place in enumerate(LOOKED_AT):
        visitor.open(place, width=360 if (number + dark) % 2 else 1100, dark=dark)
        assert visitor.violations() == [], place


@needs_browser
@pytest.mark.parametrize(
    ("word", "page"), [("swizzling", "lessons/09_swizzling.html"), ("掩码", "zh.html")]
)
def test_the_search_finds(visitor: Visitor, word: str, page: str) -> None:
    visitor.open(f"search.html?q={quote(word)}", width=360)
    visitor.wait("return document.querySelector('.results a');", f"results for {word}")
    links = visitor.run("return [...document.querySelectorAll('.results a')].map(a => a.pathname)")
    assert f"/{page}" in links
    assert "found" in visitor.find(".found").text
    assert visitor.violations() == []


@needs_browser
def test_the_search_is_reached_from_any_page_and_says_when_there_is_nothing(
    visitor: Visitor,
) -> None:
    from selenium.webdriver.common.keys import Keys

    visitor.open(LESSON)
    visitor.find(".find input").send_keys("戊戌变法", Keys.ENTER)
    visitor.wait(
        "const found = document.querySelector('.found');"
        "return found && found.textContent.startsWith('Nothing found');",
        "the answer that there is nothing",
    )


@needs_browser
def test_an_explorer_follows_the_keyboard(visitor: Visitor) -> None:
    from selenium.webdriver.common.keys import Keys

    from triton_util.explore.blocks import blocks_1d_text

    visitor.open(LESSON)
    slider = visitor.find(".tw-explorer input[type=range]")
    shown = visitor.find(".tw-explorer .tw-stage pre")
    assert shown.text.strip() == blocks_1d_text(7, 4, 1).strip()
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert shown.text.strip() == blocks_1d_text(9, 4, 1).strip()
    assert slider.get_attribute("aria-valuetext") == "9"
    visitor.find(".tw-explorer select").send_keys("8")
    assert shown.text.strip() == blocks_1d_text(9, 8, 1).strip()


@needs_browser
def test_a_trace_is_walked_through(visitor: Visitor) -> None:
    from selenium.webdriver.common.keys import Keys

    visitor.open(LESSON)
    box = visitor.find('.tw-explorer[data-markup="yes"]')
    program = visitor.find('.tw-explorer[data-markup="yes"] input')
    assert "program 0, step 1" in box.text
    program.send_keys(Keys.ARROW_RIGHT)
    assert "program 1, step 1" in box.text


@needs_browser
def test_a_prediction_answers_a_guess_and_nothing_else(visitor: Visitor) -> None:
    from selenium.webdriver.common.keys import Keys

    visitor.open(LESSON, width=360, dark=True)
    form, field = visitor.find(".tw-prediction"), visitor.find(".tw-prediction input")
    told = visitor.find(".tw-prediction .tw-told")
    field.send_keys("many", Keys.ENTER)
    assert "First predict" in told.text
    assert form.get_attribute("data-told") not in told.text
    field.clear()
    field.send_keys("335", Keys.ENTER)
    assert form.get_attribute("data-told") in told.text
    assert "2 times" in told.text or "times that" in told.text


@needs_browser
def test_each_choice_of_a_quiz_is_answered(visitor: Visitor) -> None:
    visitor.open(LESSON, dark=True)
    visitor.run("document.querySelector('.tw-asking').scrollIntoView()")
    choices = visitor.run(
        "return [...document.querySelector('.tw-asking fieldset').querySelectorAll('input')]"
    )
    answers = set()
    for choice in choices:
        choice.click()
        answers.add(visitor.find(".tw-asking .tw-answer").text)
    assert len(answers) == len(choices) > 1
    assert sum(answer.lstrip("✓ \n").startswith("Right") for answer in answers) == 1
    assert visitor.violations() == [], "with an answer shown"


@needs_browser
def test_the_theme_is_chosen_and_kept(visitor: Visitor) -> None:
    visitor.open("index.html", dark=False)
    ground = "return getComputedStyle(document.body).backgroundColor;"
    light = visitor.run(ground)
    button = visitor.find("button.theme")
    button.click()
    button.click()
    assert button.get_attribute("aria-label") == "Colours: Dark"
    dark = visitor.run(ground)
    assert dark != light
    visitor.open(LESSON, dark=False)
    assert visitor.run(ground) == dark, "the choice holds on the next page"
    assert visitor.violations() == []
    visitor.run("localStorage.clear()")


@needs_browser
def test_the_contents_open_by_keyboard_on_a_telephone(visitor: Visitor) -> None:
    from selenium.webdriver.common.keys import Keys

    visitor.open(LESSON, width=360)
    contents, button = visitor.find("#contents"), visitor.find("button.menu")
    assert not contents.is_displayed()
    button.send_keys(Keys.ENTER)
    assert contents.is_displayed()
    assert button.get_attribute("aria-expanded") == "true"
    assert visitor.run("return document.activeElement.closest('#contents') !== null;")
    assert visitor.sideways() <= 0
    assert visitor.violations() == []


@needs_browser
def test_the_browser_had_nothing_to_complain_about(visitor: Visitor) -> None:
    assert visitor.complaints() == []
