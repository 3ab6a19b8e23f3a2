"""Makes a submitted notebook safe to open, for graders, on feedback pages and in formgrader.

`clean_notebook` turns a student's markup into plain text. It removes outputs, widgets, attachments
other than pictures, and tags that change how a notebook runs. `clean_html` cleans the HTML that is
made of that text, with nh3, which parses it as a browser does.
"""

from __future__ import annotations

import re
from typing import Any

import nh3
from nbformat.notebooknode import NotebookNode

PICTURES = ("image/png", "image/jpeg", "image/gif")
CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
NOTEBOOK_KEYS = {"cells", "metadata", "nbformat", "nbformat_minor"}
CELL_KEYS = {"cell_type", "id", "metadata", "source"}
EXTRA_KEYS = {"markdown": {"attachments"}, "code": {"outputs", "execution_count"}}
FLAGS = ("deletable", "editable")  # kept of a cell's metadata, besides nbgrader's
MAX_SOURCE = 200_000  # characters of one cell; kernels and answers are shorter
LONGEST_LINE = 500  # characters that pages show in one line of code
MAX_TEXT = 100_000  # characters of all text cells; a lesson has 17,000
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*\Z")
_FILE_NAME = re.compile(r"[\w. ()-]{1,200}\Z")
# "<" before these opens a tag, a comment or an instruction; before a blank it is plain text
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
# Jupyter itself loads pictures from the network when a notebook is opened.
# The pattern takes linear time: each part stops where the next could begin.
_BADGE = re.compile(r"\[!\[([^\[\]]*+)\]\([^()]*+\)\](?=\()")
_LINKED_IMAGE = re.compile(r"!(?=\[)(?!\[[^\[\]]*+\]\(attachment:)")

_TEXT = """
a abbr b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li main ol
p pre s section small span strong sub summary sup table tbody td th thead tr u ul
"""
_FORMULA = """
math menclose mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub msubsup
msup mtable mtd mtext mtr munder munderover
"""
_FORMULA_ATTRIBUTES = """
accent columnalign columnspacing display displaystyle form linethickness lspace mathsize
mathvariant maxsize minsize movablelimits notation numalign rowspacing rspace scriptlevel stretchy
symmetric width
"""
# Allowed values of attributes; on formgrader's pages, a link may lead to another submission.
_LINK = re.compile(
    r"\A(?:(?i:https?://|mailto:)[^\s\x00-\x20]++|#[^\s\x00-\x20]*+"
    r"|(?:/[\w@%.~-]++)*/formgrader/submissions/[0-9a-f]{32}/)\Z"
)
_PICTURE = re.compile(r"data:(?:" + "|".join(PICTURES) + r");base64,[A-Za-z0-9+/=\s]*+")
_STYLE = re.compile(r"(?is)(?!.*(?:url|image|\\)).*")  # not what loads something
_VALUES = {"href": _LINK, "src": _PICTURE, "style": _STYLE, "id": re.compile("grade-.*", re.S)}


def _kept(_tag: str, name: str, value: str) -> str | None:
    """Return an attribute's value if it stays; None if the attribute is removed.

    An `id` in a text could replace an element that formgrader's script looks up.
    """
    pattern = _VALUES.get(name)
    return value if pattern is None or pattern.fullmatch(value) else None


_cleaner = nh3.Cleaner(
    tags={*_TEXT.split(), *_FORMULA.split()},
    attributes={
        "*": {"class", "id"},
        "a": {"href", "title"},
        "abbr": {"title"},
        "img": {"src", "alt", "title", "width", "height"},
        "ol": {"start"},
        "span": {"style"},
        **{tag: {"style", "colspan", "rowspan"} for tag in ("td", "th")},
        **{tag: set(_FORMULA_ATTRIBUTES.split()) for tag in _FORMULA.split()},
    },
    filter_style_properties={"color", "background-color", "font-weight", "text-align"},
    attribute_filter=_kept,
    url_schemes={"http", "https", "mailto", "data"},  # data: only for pictures, by `_VALUES`
)


def clean_html(html: str) -> str:
    """Return the markup without anything that a browser would run or load.

    Text, tables, formulas, embedded pictures and links with the schemes http, https and mailto
    stay.
    """
    return _cleaner.clean(html)


def clean_notebook(notebook: NotebookNode) -> list[str]:
    """Clean all cells in place; return notes on removed parts that could matter."""
    notes: list[str] = []
    for key in set(notebook) - NOTEBOOK_KEYS:
        del notebook[key]
    notebook.metadata = NotebookNode(
        {key: notebook.metadata[key] for key in ("kernelspec",) if key in notebook.metadata}
    )
    for number, cell in enumerate(notebook.cells, start=1):
        notes += _clean_cell(cell, number)
    return notes + _bounded([cell for cell in notebook.cells if cell.cell_type == "markdown"])


def _bounded(cells: list[NotebookNode]) -> list[str]:
    """Cut all text cells together to MAX_TEXT, so that making a page takes bounded time."""
    left, notes = MAX_TEXT, []
    for cell in cells:
        if len(cell.source) > left:
            notes = [f"the text cells held more than {MAX_TEXT:,} characters: the rest is cut"]
            cell.source = cell.source[:left]
        left -= len(cell.source)
    return notes


def _clean_cell(cell: NotebookNode, number: int) -> list[str]:
    notes = []
    tags = cell.metadata.get("tags")
    if isinstance(tags, list | str) and "skip-execution" in tags:
        notes.append(f"cell {number} carried the tag skip-execution: removed")
    cell.metadata = _clean_metadata(cell.metadata)
    if not CELL_ID.match(str(cell.get("id", ""))):
        cell["id"] = f"cell-{number}"
    cell.source = storable(cell.source)
    if len(cell.source) > MAX_SOURCE:
        notes.append(f"cell {number} held {len(cell.source):,} characters: cut to {MAX_SOURCE:,}")
        cell.source = cell.source[:MAX_SOURCE]
    if cell.cell_type == "raw":  # would be shown as HTML if its metadata says so
        cell.cell_type = "markdown"
    if cell.cell_type == "markdown":
        cell.source = clean_markdown(cell.source)
        _clean_attachments(cell)
    elif cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    for key in set(cell) - CELL_KEYS - EXTRA_KEYS.get(cell.cell_type, set()):
        del cell[key]  # it may contain anything, and would be written out again
    return notes


def _clean_metadata(metadata: NotebookNode) -> NotebookNode:
    kept = {key: metadata[key] for key in FLAGS if isinstance(metadata.get(key), bool)}
    if "nbgrader" in metadata:
        kept["nbgrader"] = metadata["nbgrader"]
    return NotebookNode(kept)


def clean_markdown(text: str) -> str:
    """Return the text without tags, and with links instead of pictures from the network.

    `a<b` becomes `a< b`, which reads the same and cannot open a tag.
    """
    return _LINKED_IMAGE.sub("", _BADGE.sub(r"[\1]", _TAG.sub("< ", text)))


def shown_code(text: str) -> str:
    """Return a cell's code for pages: without trailing blanks and with long lines cut.

    The highlighter takes time quadratic in a line's length, and in blank lines with blanks.
    """
    lines = (line.rstrip() for line in text.split("\n"))
    width = LONGEST_LINE
    return "\n".join(
        line[start : start + width]
        for line in lines
        for start in range(0, max(1, len(line)), width)
    )


def _clean_attachments(cell: NotebookNode) -> None:
    """Keep only pictures; the page names missing ones (`formulas.FormulaRenderer`)."""
    kept: dict[str, Any] = {}
    for name, bundle in dict(cell.get("attachments", {})).items():
        pictures = {
            kind: data
            for kind, data in dict(bundle).items()
            if kind in PICTURES and isinstance(data, str) and _BASE64.match(data)
        }
        if pictures and _FILE_NAME.match(name):
            kept[name] = pictures
    if "attachments" in cell:
        cell.attachments = kept


def storable(source: Any) -> str:
    """Return a cell's text; half a surrogate pair (of a cut emoji) becomes a question mark."""
    return source.encode("utf-8", "replace").decode() if isinstance(source, str) else ""


def text_output(text: str) -> NotebookNode:
    """Return an output with our text on standard output."""
    return NotebookNode(output_type="stream", name="stdout", text=text + "\n")


def number_output(points: float) -> NotebookNode:
    """Return the execution result that nbgrader reads as partial credit."""
    return NotebookNode(
        output_type="execute_result",
        execution_count=1,
        metadata={},
        data={"text/plain": f"{points:g}"},
    )
