"""Reads a notebook's cells from its bytes, whichever program wrote it.

Notebooks may lack metadata and cell ids, and may have any nbformat. Their outputs, which may be
large, are removed before parsing. If a cell has lost its type or text, the notebook is refused
with the cell's number: judged without it, an honest learner would lose points for a damaged file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graders.judge.submission.refusals import SubmissionError, refusal

TOKEN_LIMIT = 3_000_000  # brackets and strings: bounds the time for removing outputs
CELL_LIMIT = 5_000
TEXT_LIMIT = 10_000_000  # characters of all cells together
CLASS_LIMIT = 50_000_000  # bytes without outputs: pictures in an answer are embedded
LONGEST_VALUE, LARGEST_NUMBER = 200, 1e9  # of values in a cell's metadata
KINDS = {"code": "code", "markdown": "markdown", "raw": "raw", "heading": "markdown"}
_OUTPUTS = re.compile(rb'"outputs"\s*+:\s*+\[')
# Takes linear time: a string that is never closed reaches to the end.
_TOKEN = re.compile(rb'"outputs"\s*+:\s*+\[|"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]]', re.DOTALL)


@dataclass(frozen=True)
class NotebookCell:
    """One cell as it was saved. `number` counts all cells from 1."""

    number: int
    kind: str  # code, markdown or raw
    text: str
    saved: dict[str, Any]

    def table(self, name: str) -> dict[str, Any]:
        """Return a table of the saved cell, such as its metadata; {} if there is none."""
        value = self.saved.get(name)
        return value if isinstance(value, dict) else {}


def code_cells(data: bytes, limit: int) -> list[tuple[int, str]]:
    """Return the number and text of each code cell that a learner may write."""
    found = [
        (cell.number, cell.text)
        for cell in cells(data, limit)
        if cell.kind == "code" and not is_grade_cell(cell.table("metadata"))
    ]
    if not any(text.strip() for _, text in found):
        raise refusal(
            "empty",
            "The notebook has no code",
            "None of its cells is a code cell with text in it.",
            "Check that you saved the correct notebook.",
        )
    return found


def is_grade_cell(metadata: dict[str, Any]) -> bool:
    """Whether this is one of nbgrader's grade cells: the course's, without an answer."""
    label = metadata.get("nbgrader")
    return isinstance(label, dict) and bool(label.get("grade")) and not label.get("solution")


def cells(data: bytes, limit: int) -> list[NotebookCell]:
    """Return all cells in order, from a notebook of at most `limit` bytes without outputs."""
    if not data.strip():
        raise refusal(
            "empty",
            "The notebook is empty",
            "The file is empty.",
            "Save the notebook and hand it in again.",
        )
    if len(data) > limit:
        data = _within(data, limit)
    listed = _listed(_parsed(data))
    if len(listed) > CELL_LIMIT:
        raise _too_much(f"{len(listed):,} cells; at most {CELL_LIMIT:,} are read")
    found = [_cell(number, saved) for number, saved in enumerate(listed, start=1)]
    characters = sum(len(cell.text) for cell in found)
    if characters > TEXT_LIMIT:
        raise _too_much(
            f"{characters / 1e6:.0f} MB of text; at most {TEXT_LIMIT / 1e6:.0f} are read"
        )
    return found


def _too_much(what: str) -> SubmissionError:
    return refusal(
        "too-large",
        "The notebook is too large",
        f"It holds {what}.",
        "Hand in the notebook of the lesson, without large texts in its cells.",
    )


def _within(data: bytes, limit: int) -> bytes:
    kept = without_outputs(data)
    if len(kept) > limit:
        raise refusal(
            "too-large",
            "The file is too large",
            f"It holds {len(data) / 1e6:.0f} MB; at most {limit / 1e6:.0f} MB of text are read.",
            "Clear its outputs and take large text out of its cells.",
        )
    return kept


def without_outputs(data: bytes) -> bytes:
    """Return a notebook's JSON with every list of outputs emptied; broken JSON stays broken."""
    kept: list[bytes] = []
    start = depth = 0
    inside = False
    for tokens, token in enumerate(_TOKEN.finditer(data)):
        if tokens > TOKEN_LIMIT:
            raise refusal(
                "too-large",
                "The file is too large",
                f"It holds {len(data) / 1e6:.0f} MB in more pieces than are read.",
                "Clear its outputs and save it again.",
            )
        mark = token.group()
        if not inside and _OUTPUTS.match(mark):
            kept.append(data[start : token.end()])
            inside, depth = True, 1
        elif inside and mark == b"[":
            depth += 1
        elif inside and mark == b"]":
            depth -= 1
            if depth == 0:
                inside, start = False, token.start()
    kept.append(b"" if inside else data[start:])
    return b"".join(kept)


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise not_utf8() from None
    except (ValueError, RecursionError) as error:  # ValueError: also a number of 5,000 digits
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise refusal(
            "broken-json",
            "The notebook is damaged",
            f"The file is not valid JSON{where}, so no notebook program can open it.",
            "Open it in Jupyter, save it and hand it in again.",
            original=str(error),
        ) from None
    if not isinstance(notebook, dict):
        raise _no_notebook()
    return notebook


def not_utf8() -> SubmissionError:
    """Return the refusal of bytes that are not text."""
    return refusal(
        "not-utf8",
        "The file is not UTF-8 text",
        "Its bytes cannot be read as UTF-8, the encoding of Python source.",
        "Save it again with the encoding UTF-8.",
    )


def _no_notebook() -> SubmissionError:
    return refusal(
        "not-a-notebook",
        "This is not a notebook",
        "The file is JSON, but it has no list of cells.",
        "Hand in the .ipynb file that Jupyter saved, or a .py file.",
    )


def _listed(notebook: dict[str, Any]) -> list[Any]:
    listed = notebook.get("cells")
    if isinstance(listed, list):
        return listed
    sheets = notebook.get("worksheets")  # nbformat 3 has its cells there
    if not isinstance(sheets, list):
        raise _no_notebook()
    return list(_of_sheets(sheets))


def _of_sheets(sheets: list[Any]) -> Iterator[Any]:
    for sheet in sheets:
        held = sheet.get("cells") if isinstance(sheet, dict) else None
        if not isinstance(held, list):
            raise _no_notebook()
        yield from held


def _cell(number: int, saved: Any) -> NotebookCell:
    if not isinstance(saved, dict):
        raise _damaged(number, "is no cell")
    said = saved.get("cell_type")
    kind = KINDS.get(said) if isinstance(said, str) else None
    if kind is None:
        raise _damaged(number, "does not say whether it is code or text")
    source = saved.get("source", saved.get("input", ""))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise _damaged(number, "holds no text")
    return NotebookCell(number, kind, source, saved)


def _damaged(number: int, what: str) -> SubmissionError:
    return refusal(
        "damaged-notebook",
        "The notebook is damaged",
        f"Cell {number} {what}, so its answer cannot be read.",
        "Open it in Jupyter, save it and hand it in again.",
    )


def in_order(data: bytes) -> dict[str, Any]:
    """Return a clean notebook of nbformat 4.5 with the same cells.

    Outputs are removed. Of the metadata, only plain values of the cell and of nbgrader's label
    stay. So nested or malformed metadata cannot reach the programs that write the grades.
    """
    if len(data) > CLASS_LIMIT:
        data = _within(data, CLASS_LIMIT)
    found = _parsed(data).get("metadata")
    said = found.get("kernelspec") if isinstance(found, dict) else None
    kernel = _plain_values(said) if isinstance(said, dict) else {}
    whole = all(isinstance(kernel.get(name), str) for name in ("name", "display_name"))
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": kernel} if whole else {},
        "cells": [_ordered(cell) for cell in cells(data, CLASS_LIMIT)],
    }


def _ordered(cell: NotebookCell) -> dict[str, Any]:
    metadata = _plain_values(cell.table("metadata"))
    label = cell.table("metadata").get("nbgrader")
    if isinstance(label, dict):
        metadata["nbgrader"] = _plain_values(label)
    tags = cell.table("metadata").get("tags")
    if isinstance(tags, list):
        metadata["tags"] = [tag for tag in tags[:20] if _is_plain(tag) and isinstance(tag, str)]
    text = cell.text.encode("utf-8", "replace").decode()
    ordered = {"cell_type": cell.kind, "metadata": metadata, "source": text}
    if isinstance(cell.saved.get("id"), str) and _is_plain(cell.saved["id"]):
        ordered["id"] = cell.saved["id"]
    if cell.kind == "code":
        return ordered | {"outputs": [], "execution_count": None}
    pictures = {name: _texts(held) for name, held in cell.table("attachments").items()}
    return ordered | ({"attachments": pictures} if pictures else {})


def _texts(value: Any) -> dict[str, str]:
    entries = value.items() if isinstance(value, dict) else ()
    return {name: held for name, held in entries if isinstance(held, str)}


def _plain_values(table: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in list(table.items())[:50] if _is_plain(value)}


def _is_plain(value: Any) -> bool:
    """Whether the value is a bool, a number of ordinary size, or a short text."""
    if isinstance(value, str):
        return len(value) <= LONGEST_VALUE
    return isinstance(value, bool) or (
        isinstance(value, int | float) and -LARGEST_NUMBER <= value <= LARGEST_NUMBER
    )
