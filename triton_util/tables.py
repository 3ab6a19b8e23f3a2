"""Tables as text: columns that stand below each other."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(
    columns: Sequence[str], rows: Sequence[Sequence[str]], marked: Sequence[bool] = ()
) -> list[str]:
    """The lines of a table under its head; a ✗ stands before those that are marked."""
    whole = [columns, *rows]
    widths = [max(len(row[column]) for row in whole) for column in range(len(columns))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in whole
    ]
    if not any(marked):
        return lines
    marks = ["  ", *("✗ " if mark else "  " for mark in marked)]
    return [f"{mark}{line}".rstrip() for mark, line in zip(marks, lines, strict=True)]
