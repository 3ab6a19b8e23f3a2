"""Text from a stranger as it may be shown: in a terminal, a card, a report, a table.

A control character moves the cursor of a terminal or rewrites what stands above; characters that
turn the direction of writing make a line read as something that it is not; half a character
ends a program that prints it. None of them belongs to Python or to a name.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it imports torch, which the process that reads a submission does without
    from graders.judge.report import Finding, Table

# Signs without a shape of their own that languages and emoji need: (non-)joiners.
_JOINERS = "\u200c\u200d"
LONGEST = 10_000  # characters of one part of a finding
LAST_LINE = 10_000_000


def plain(text: str) -> str:
    """The text without control, direction, private and unpaired characters; lines stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character for character in text if _harmless(character))


def one_line(text: str, limit: int = 300) -> str:
    """The text as a part of one line, at most `limit` characters long."""
    return shortened(" ".join(plain(text).split()), limit)


def quoted(text: str, limit: int = 300) -> str:
    """A name as a part of one line, in quotes: letters of any language stay letters."""
    return f"'{one_line(text, limit)}'"


def shortened(text: str, limit: int) -> str:
    """The text, cut with an ellipsis where it is longer than `limit` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def presentable(finding: Finding) -> Finding:
    """The finding with plain and bounded texts, and without a line number that cannot be."""
    line = finding.line
    if not isinstance(line, int) or not 0 < line <= LAST_LINE:
        line = None
    return replace(
        finding,
        title=one_line(finding.title),
        message=shortened(plain(finding.message), LONGEST),
        next_step=shortened(plain(finding.next_step), LONGEST),
        original=shortened(plain(finding.original), LONGEST),
        table=_presentable_table(finding.table),
        line=line,
    )


def _presentable_table(table: Table | None) -> Table | None:
    """A caption and notes name an argument of the kernel; all else is the judge's own."""
    if table is None:
        return None
    notes = tuple(map(one_line, table.notes))
    return replace(table, caption=one_line(table.caption), notes=notes)


def _harmless(character: str) -> bool:
    if character in "\n\t" or character in _JOINERS:
        return True
    return unicodedata.category(character)[0] != "C" and character not in "\u2028\u2029"
