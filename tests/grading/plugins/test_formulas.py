"""Formulas of lessons are shown without a script; what learners write as one can do nothing."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from graders.authoring.rooms import Rooms, find_root
from graders.grading.plugins import formulas
from graders.grading.plugins.formulas import mathml, to_html
from tests.support.live_markup import live
from tests.support.processor_time import processor_seconds

ROOMS = Rooms(find_root(Path(__file__)))


def test_every_formula_of_the_lessons_is_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, str | None] = {}

    def noted(tex: str, block: bool) -> str | None:
        asked[tex] = mathml(tex, block)
        return asked[tex]

    monkeypatch.setattr(formulas, "mathml", noted)
    for path in sorted(ROOMS.lessons.glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                to_html(cell.source)
    assert len(asked) > 10
    assert [tex for tex, made in asked.items() if made is None] == []


def test_a_formula_stands_in_its_line_or_in_one_of_its_own() -> None:
    page = to_html(
        "so $a < b$, and\n\n$$\\sum_i x_i$$\n\n\\begin{cases} 1 & x \\\\ 2 & y \\end{cases}"
    )
    assert page.count("<math>") == 1
    assert page.count('<math display="block">') == 2
    assert "<mo>&lt;</mo>" in page
    assert "$" not in page


@pytest.mark.parametrize(
    "tex",
    [
        *("\\foo{x}", "\\frac{1}", "a & b", "___", "{", "\\begin{matrix} x", "\ud800", "\0", ""),
        *("\\href{https://far.example}{x}", "\\class{x}{y}", '\\color{x" onload="y}{z}'),
        *("{" * 900, "x^" * 900, "\\left(" * 300, "\\sqrt" * 400, "1" * 2_001),
    ],
)
def test_what_is_no_formula_stays_text(tex: str) -> None:
    shown = mathml(tex, True)
    assert shown is None or ("far" not in shown and "onload" not in shown)
    assert "<a" not in to_html(f"$${tex}$$".encode("utf-8", "replace").decode())


@pytest.mark.parametrize(
    "made",
    [
        "<math><script>x</script></math>",
        '<math><mi onload="x">x</mi></math>',
        '<math><mi href="javascript:x">x</mi></math>',
        "<math><mtext><style><img src=x onerror=x></style></mtext></math>",
    ],
)
def test_nothing_but_a_formula_comes_out(monkeypatch: pytest.MonkeyPatch, made: str) -> None:
    """Whatever the translator might be made to say."""
    monkeypatch.setattr(formulas, "mathml", lambda tex, block: made)
    page = to_html("$x$")
    assert "<math>" in page
    assert live(page) == []


@pytest.mark.parametrize("piece", ["\\begin{a}", "$$x", "$x ", "\\\\[x", "\\\\(x", "\\begin{a}$x "])
def test_beginnings_without_an_end_cost_no_more_than_their_length(
    monkeypatch: pytest.MonkeyPatch, piece: str
) -> None:
    """The square of this length would take minutes."""
    monkeypatch.setattr(formulas, "LONGEST_TEXT", 10**6)
    with processor_seconds(30):
        to_html(piece * (200_000 // len(piece)))


def test_a_text_that_is_too_long_is_shown_as_it_is() -> None:
    page = to_html("<b> *x* " * 8_000)
    assert page.startswith("<pre>&lt;b&gt; *x* ")
