"""Finds what a student wrote where grading or Jupyter would lose it.

Grading restores locked cells, so text that a student wrote into one is copied to a cell of its
own first. And a cell with `%%writefile add.py` defines nothing, although it contains the code.
"""

from __future__ import annotations


def added_lines(source: str, *restored: str) -> str:
    """Return the lines of a changed cell that none of the restored texts has."""
    known = {line.strip() for text in restored for line in text.splitlines()}
    fresh = [line for line in source.splitlines() if line.strip() not in known]
    return "\n".join(fresh).strip("\n") if any(line.strip() for line in fresh) else ""


def written_file(source: str) -> str:
    """Return the code that a cell writes to a .py file; "" for every other cell."""
    first, _, code = source.lstrip().partition("\n")
    magic, *words = first.split() or [""]
    is_file = magic in ("%%writefile", "%%file") and bool(words)
    return code if is_file and words[-1].strip("\"'").endswith(".py") else ""
