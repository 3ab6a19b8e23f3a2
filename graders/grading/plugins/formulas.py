"""Formulas as MathML, which browsers show by themselves: no script, and nothing from the network.

nbconvert's pages leave TeX as it is and load MathJax from a server. A feedback page may run
nothing, and formgrader has to work where there is no internet.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from docutils.utils.math.latex2mathml import tex2mathml
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

LONGEST = 2_000  # characters of a formula that is translated
KEPT = 500  # formulas; the lesson's stand on everybody's page
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
_ELEMENT = re.compile(
    r"math|menclose|mfrac|mi|mn|mo|mover|mpadded|mphantom|mroot|mrow|mspace|msqrt|mstyle|msub"
    r"|msubsup|msup|mtable|mtd|mtext|mtr|munder|munderover"
)
_ATTRIBUTE = re.compile(
    r"accent|class|column(align|spacing)|display(style)?|form|linethickness|[lr]space|math(size"
    r"|variant)|(max|min)size|movablelimits|notation|numalign|rowspacing|scriptlevel|stretchy"
    r"|symmetric|width"
)
APPLY_FUNCTION = "\u2061"  # docutils writes its name, which is none of XML
_VALUE = re.compile(r"[\w .%+-]*")


@lru_cache(KEPT)
def mathml(tex: str, block: bool) -> str | None:
    """The formula as an element `math`; None where it is none that can be translated.

    What learners write comes here, too: only elements and attributes of formulas go out.
    """
    if len(tex) > LONGEST:
        return None
    try:
        made = str(tex2mathml(tex, as_block=block)).replace("&ApplyFunction;", APPLY_FUNCTION)
        root = ElementTree.fromstring(made)
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError, SyntaxError):
        return None  # no TeX, or TeX that docutils does not know
    if not all(_is_plain(element) for element in root.iter()):
        return None
    return made.replace(f' xmlns="{NAMESPACE}"', "")  # HTML knows the element without it


def _is_plain(element: ElementTree.Element) -> bool:
    name = element.tag.removeprefix(f"{{{NAMESPACE}}}")
    return _ELEMENT.fullmatch(name) is not None and all(
        _ATTRIBUTE.fullmatch(key) and _VALUE.fullmatch(value)
        for key, value in element.attrib.items()
    )


class FormulaRenderer(IPythonRenderer):  # type: ignore[misc]
    """nbconvert's markdown with formulas in MathML; what is none stays TeX, as text."""

    def block_math(self, body: str) -> str:
        return mathml(body, True) or str(super().block_math(body))

    def inline_math(self, body: str) -> str:
        return mathml(body, False) or str(super().inline_math(body))

    def latex_environment(self, name: str, body: str) -> str:
        whole = f"\\begin{{{name}}}{body}\\end{{{name}}}"
        return mathml(whole, True) or str(super().latex_environment(name, body))


def to_html(source: str, **options: Any) -> str:
    """Markdown to HTML; the options are those of nbconvert's renderer."""
    renderer = FormulaRenderer(escape=False, **options)
    return str(MarkdownWithMath(renderer=renderer).render(source))


@pass_context
def markdown2html(context: Any, source: str) -> str:
    """nbconvert's filter of this name, for the pages of formgrader."""
    return to_html(source, attachments=context.get("cell", {}).get("attachments", {}))
