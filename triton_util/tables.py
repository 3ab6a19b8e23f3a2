"""Tables as text, with aligned columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import zip_longest

LEAST = 7  # smallest width, in characters, of a narrowed column


def aligned(
    columns: Sequence[str], rows: Sequence[Sequence[str]], marked: Sequence[bool] = ()
) -> list[str]:
    """The lines of a table under its header; a ✗ marks the chosen rows."""
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


def fitted(
    columns: Sequence[str], rows: Sequence[Sequence[str]], marked: Sequence[bool], width: int
) -> list[str]:
    """The same with cells wrapped so that lines have at most `width` characters, if words allow.

    Every line of a marked row begins with a ✗ or with a space in its place.
    """
    whole = [columns, *rows]
    widths = [max(len(row[column]) for row in whole) for column in range(len(columns))]
    room = width - 2 * (len(columns) - 1) - (2 if any(marked) else 0)
    while sum(widths) > room and max(widths) > LEAST:
        widths[widths.index(max(widths))] -= 1
    lines: list[str] = []
    marks = [False, *marked] if marked else [False] * len(whole)
    for row, mark in zip(whole, marks, strict=True):
        cells = [textwrap.wrap(cell, most) or [""] for cell, most in zip(row, widths, strict=True)]
        for number, parts in enumerate(zip_longest(*cells, fillvalue="")):
            told = "  ".join(part.ljust(most) for part, most in zip(parts, widths, strict=True))
            sign = ("✗ " if mark and not number else "  ") if any(marked) else ""
            lines.append(f"{sign}{told}".rstrip())
    return lines
