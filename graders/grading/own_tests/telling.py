"""What a feedback page tells of an own test, so that no hidden test is in it.

A test runs in the interpreter of the submission, which can read the test's text and print it. So
once a hidden test has been executed, a page shows no output: it tells in words of ours which line
of the visible tests failed, and that a hidden one did.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from nbformat.notebooknode import NotebookNode

from graders.grading.own_tests.cells import is_hidden_line, label
from graders.grading.sanitise import text_output


def tell(cell: NotebookNode, known: Mapping[str, Any]) -> None:
    """Replace the outputs of a cell, whose text is still whole; `known` is what `note` kept."""
    if known.get("open") or known.get("free"):
        return
    failed = next((o for o in cell.outputs if o.output_type == "error"), None)
    if label(cell).get("solution"):  # an answer that a person grades
        failed = None
    cell.outputs = [] if failed is None else [text_output(_failed(cell, failed, known))]


def note(line: int | None, free: bool, is_open: bool) -> dict[str, Any]:
    """What a page needs of a test: `free` says that its outputs cannot hold a hidden test."""
    return {"line": line, "free": free, "open": is_open}


def _failed(cell: NotebookNode, failed: NotebookNode, known: Mapping[str, Any]) -> str:
    kind = _kind(failed.ename)
    line, lines = known.get("line"), cell.source.split("\n")
    if isinstance(line, int) and 0 < line <= len(lines) and not is_hidden_line(cell.source, line):
        return f"This test failed ({kind}) in line {line}:\n    {lines[line - 1].strip()}"
    return f"A hidden test failed ({kind})."


def _kind(name: str) -> str:
    """The kind of an error: one of Python's own, since a submission can give any name."""
    found = getattr(builtins, name, None)
    known = isinstance(found, type) and issubclass(found, BaseException)
    return name if known or name == "CellTimeoutError" else "an error"
