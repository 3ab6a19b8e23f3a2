"""Make a submitted notebook harmless to whoever opens it: graders, feedback, formgrader.

Student text is shown as text. Live HTML, scripts, network images, tags that change how a
notebook runs, outputs, widgets and attachments other than pictures go.

nbconvert's SanitizeHTML is no substitute: it escapes `>` in quotations and code, and leaves links
that run code, pictures from the network and TeX commands, which are markdown and no tags.
"""

from __future__ import annotations

import re
from typing import Any

from nbformat.notebooknode import NotebookNode

PICTURES = ("image/png", "image/jpeg", "image/gif")
CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
NOTEBOOK_KEYS = {"cells", "metadata", "nbformat", "nbformat_minor"}
CELL_KEYS = {"cell_type", "id", "metadata", "source"}
EXTRA_KEYS = {"markdown": {"attachments"}, "code": {"outputs", "execution_count"}}
FLAGS = ("deletable", "editable")  # of a cell's metadata; all else but nbgrader's goes
MAX_SOURCE = 200_000  # characters of one cell; no kernel and no answer is longer
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*\Z")
_FILE_NAME = re.compile(r"[\w. ()-]{1,200}\Z")
# "<" before these opens a tag, a comment or an instruction; with a blank it is just a sign
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_SCHEMES = re.compile(
    r"(?:javascript|vbscript|data|file)(?=\s*(?::|&colon;|&#0*58;|&#x0*3a;))", re.I
)
_TEX = re.compile(r"\\(href|url|require|unicode|html\w*|class|style|cssId)\b")
_ENTITY = re.compile(r"&(?=#|(?:colon|tab|newline|lpar|NewLine|Tab);)")
# No pattern looks at a place twice: each part stops where the next could begin.
_ATTACHED = re.compile(r"!\[([^\[\]]*+)\]\(attachment:([^()\s]*+)[^()]*+\)")
_ATTACHMENT = re.compile(r"attachment\\?:([^()\s]++)")
_BADGE = re.compile(r"\[!\[([^\[\]]*+)\]\([^()]*+\)\](?=\()")
_LINKED_IMAGE = re.compile(r"!(?=\[)(?!\[[^\[\]]*+\]\(attachment:)")


def clean_notebook(notebook: NotebookNode) -> list[str]:
    """Clean all cells in place; the notes name what was taken out and could matter."""
    notes: list[str] = []
    for key in set(notebook) - NOTEBOOK_KEYS:
        del notebook[key]
    notebook.metadata = NotebookNode(
        {key: notebook.metadata[key] for key in ("kernelspec",) if key in notebook.metadata}
    )
    for number, cell in enumerate(notebook.cells, start=1):
        notes += _clean_cell(cell, number)
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
    if cell.cell_type == "raw":  # would be shown as HTML where it says that it is
        cell.cell_type = "markdown"
    if cell.cell_type == "markdown":
        cell.source = clean_markdown(cell.source)
        _clean_attachments(cell)
    elif cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    for key in set(cell) - CELL_KEYS - EXTRA_KEYS.get(cell.cell_type, set()):
        del cell[key]  # anything may stand there, and would be written out again
    return notes


def _clean_metadata(metadata: NotebookNode) -> NotebookNode:
    kept = {key: metadata[key] for key in FLAGS if isinstance(metadata.get(key), bool)}
    if "nbgrader" in metadata:
        kept["nbgrader"] = metadata["nbgrader"]
    return NotebookNode(kept)


def clean_markdown(text: str) -> str:
    """The same text with nothing in it that a browser would run or load.

    `a<b` becomes `a< b`, which reads the same and can open no tag; schemes that run code and
    TeX commands that make links lose their meaning; pictures from the network become links.
    """
    text = _TAG.sub("< ", text)
    text = _ENTITY.sub("& ", text)
    text = _SCHEMES.sub("text", text)
    text = _TEX.sub(r"\1", text)
    text = _BADGE.sub(r"[\1]", text)
    return _LINKED_IMAGE.sub("", text)


def _clean_attachments(cell: NotebookNode) -> None:
    """Keep pictures; a picture that is not there (any more) would end nbgrader's feedback."""
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

    def shown(match: re.Match[str]) -> str:
        return match[0] if match[2] in kept else f"({match[1]}: picture left out)"

    def known(match: re.Match[str]) -> str:
        return match[0] if match[1] in kept else "left-out"

    cell.source = _ATTACHMENT.sub(known, _ATTACHED.sub(shown, cell.source))


def storable(source: Any) -> str:
    """The text of a cell; half a character, as a cut emoji leaves, becomes a question mark."""
    return source.encode("utf-8", "replace").decode() if isinstance(source, str) else ""


def text_output(text: str) -> NotebookNode:
    """A line of our own on standard output, as a cell would show it."""
    return NotebookNode(output_type="stream", name="stdout", text=text + "\n")


def number_output(points: float) -> NotebookNode:
    """The execution result that nbgrader reads as partial credit."""
    return NotebookNode(
        output_type="execute_result",
        execution_count=1,
        metadata={},
        data={"text/plain": f"{points:g}"},
    )
