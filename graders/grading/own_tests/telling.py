"""Writes what a feedback page shows of an own test, without revealing a hidden test.

A test runs in the submission's interpreter, which can read the test's text and print it. So once
a hidden test has been executed, a page shows no output. It says in our own words which line of
the visible tests failed, or that a hidden one did.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from nbformat.notebooknode import NotebookNode

from graders.grading.own_tests.cells import is_hidden_line, label
from graders.grading.sanitise import text_output


def tell(cell: NotebookNode, known: Mapping[str, Any]) -> None:
    """Replace a cell's outputs, before its hidden tests are removed; `known` is from `note`."""
    if known.get("open") or known.get("free"):
        return
    failed = next((o for o in cell.outputs if o.output_type == "error"), None)
    if label(cell).get("solution"):  # an answer that a person grades
        failed = None
    cell.outputs = [] if failed is None else [text_output(_failed(cell, failed, known))]


def note(line: int | None, free: bool, is_open: bool) -> dict[str, Any]:
    """Return what a page needs to know of a test. `free`: its outputs reveal no hidden test."""
    return {"line": line, "free": free, "open": is_open}


def _failed(cell: NotebookNode, failed: NotebookNode, known: Mapping[str, Any]) -> str:
    kind = _kind(failed.ename)
    line, lines = known.get("line"), cell.source.split("\n")
    if isinstance(line, int) and 0 < line <= len(lines) and not is_hidden_line(cell.source, line):
        return f"This test failed ({kind}) in line {line}:\n    {lines[line - 1].strip()}"
    return f"A hidden test failed ({kind})."


def _kind(name: str) -> str:
    """Return an error's type if it is one of Python's: a submission can use any other name."""
    found = getattr(builtins, name, None)
    known = isinstance(found, type) and issubclass(found, BaseException)
    return name if known or name == "CellTimeoutError" else "an error"
