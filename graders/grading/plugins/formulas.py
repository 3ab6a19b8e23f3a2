"""Converts formulas to MathML, which browsers show without scripts or network access.

nbconvert's pages keep TeX and load MathJax from a server. But a feedback page must not run
scripts, and formgrader has to work without internet.
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
KEPT = 500  # formulas; the lesson's are on every page
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
APPLY_FUNCTION = "\u2061"  # docutils writes its entity name, which XML does not define


@lru_cache(KEPT)
def mathml(tex: str, block: bool) -> str | None:
    """Return the formula as an element `math`; None if it cannot be converted."""
    if len(tex) > LONGEST:
        return None
    try:
        made = str(tex2mathml(tex, as_block=block))
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError, SyntaxError):
        return None  # not TeX, or TeX that docutils does not know
    # HTML does not need the element's namespace
    return made.replace("&ApplyFunction;", APPLY_FUNCTION).replace(f' xmlns="{NAMESPACE}"', "")


def _bounded(rules: dict[str, str]) -> dict[str, str]:
    """Return the same patterns, with a limit on the length of a formula.

    nbconvert's patterns search for each formula's end up to the end of the text. With many
    beginnings and no end, this takes time quadratic in its length.
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
    """nbconvert's markdown with formulas in MathML; TeX that cannot be converted stays text."""

    def block_math(self, body: str) -> str:
        return mathml(body, True) or str(super().block_math(body))

    def inline_math(self, body: str) -> str:
        return mathml(body, False) or str(super().inline_math(body))

    def latex_environment(self, name: str, body: str) -> str:
        whole = f"\\begin{{{name}}}{body}\\end{{{name}}}"
        return mathml(whole, True) or str(super().latex_environment(name, body))

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Return a picture that is attached to the cell; for any other one, its alt text."""
        name = url.removeprefix("attachment:")
        if name == url or not set(PICTURES) & set(self.attachments.get(name, ())):
            return escape(f"({text}: picture left out)")
        return str(super().image(text, url, title))


def to_html(source: str, **options: Any) -> str:
    """Convert markdown to HTML that neither runs nor loads anything.

    The options are those of nbconvert's renderer. A text that is too long stays unconverted.
    """
    if len(source) > LONGEST_TEXT:
        return f"<pre>{escape(source)}</pre>"
    renderer = FormulaRenderer(escape=False, **options)
    markdown = MarkdownWithMath(renderer, _Blocks(), _Inlines(hard_wrap=False))
    return clean_html(str(markdown.render(source)))


@pass_context
def markdown2html(context: Any, source: str) -> str:
    """Replace nbconvert's filter of this name on formgrader's pages."""
    return to_html(source, attachments=context.get("cell", {}).get("attachments", {}))
