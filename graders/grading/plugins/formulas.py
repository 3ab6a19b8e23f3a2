"""Formulas as MathML, which browsers show by themselves: no script, and nothing from the network.

nbconvert's pages leave TeX as it is and load MathJax from a server. A feedback page may run
nothing, and formgrader has to work where there is no internet.
"""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import Any

from docutils.utils.math.latex2mathml import tex2mathml
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import (
    IPythonRenderer,
    MarkdownWithMath,
    MathBlockParser,
    MathInlineParser,
)

from graders.grading.sanitise import PICTURES, clean_html

LONGEST = 2_000  # characters of a formula
LONGEST_TEXT = 20_000  # characters of a cell that is read as markdown; a lesson's have 2,500
KEPT = 500  # formulas; the lesson's stand on everybody's page
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
APPLY_FUNCTION = "\u2061"  # docutils writes its name, which is none of XML


@lru_cache(KEPT)
def mathml(tex: str, block: bool) -> str | None:
    """The formula as an element `math`; None where it is none that can be translated."""
    if len(tex) > LONGEST:
        return None
    try:
        made = str(tex2mathml(tex, as_block=block))
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError, SyntaxError):
        return None  # no TeX, or TeX that docutils does not know
    # HTML knows the element without its namespace
    return made.replace("&ApplyFunction;", APPLY_FUNCTION).replace(f' xmlns="{NAMESPACE}"', "")


def _bounded(rules: dict[str, str]) -> dict[str, str]:
    """The same patterns, which look no further than a formula is long.

    nbconvert's look for the end of each one up to the end of the text: many beginnings without an
    end cost the square of its length.
    """
    return {
        name: rule.replace(".*?", f".{{0,{LONGEST}}}?").replace(".+?", f".{{1,{LONGEST}}}?")
        if "math" in name or "latex" in name
        else rule
        for name, rule in rules.items()
    }


class _Blocks(MathBlockParser):  # type: ignore[misc]
    SPECIFICATION = _bounded(MathBlockParser.SPECIFICATION)


class _Inlines(MathInlineParser):  # type: ignore[misc]
    SPECIFICATION = _bounded(MathInlineParser.SPECIFICATION)


class FormulaRenderer(IPythonRenderer):  # type: ignore[misc]
    """nbconvert's markdown with formulas in MathML; what is none stays TeX, as text."""

    def block_math(self, body: str) -> str:
        return mathml(body, True) or str(super().block_math(body))

    def inline_math(self, body: str) -> str:
        return mathml(body, False) or str(super().inline_math(body))

    def latex_environment(self, name: str, body: str) -> str:
        whole = f"\\begin{{{name}}}{body}\\end{{{name}}}"
        return mathml(whole, True) or str(super().latex_environment(name, body))

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture that is attached to the cell; of any other one the words."""
        name = url.removeprefix("attachment:")
        if name == url or not set(PICTURES) & set(self.attachments.get(name, ())):
            return escape(f"({text}: picture left out)")
        return str(super().image(text, url, title))


def to_html(source: str, **options: Any) -> str:
    """Markdown to HTML that neither runs nor loads anything.

    The options are those of nbconvert's renderer. A text that is too long is shown as it is.
    """
    if len(source) > LONGEST_TEXT:
        return f"<pre>{escape(source)}</pre>"
    renderer = FormulaRenderer(escape=False, **options)
    markdown = MarkdownWithMath(renderer, _Blocks(), _Inlines(hard_wrap=False))
    return clean_html(str(markdown.render(source)))


@pass_context
def markdown2html(context: Any, source: str) -> str:
    """nbconvert's filter of this name, for the pages of formgrader."""
    return to_html(source, attachments=context.get("cell", {}).get("attachments", {}))
