"""Make untrusted text safe to show in a terminal, a card, a report, or a table.

A control character moves the cursor of a terminal or overwrites the lines above. Characters that
change the writing direction make a line read as something else. Half a character (an unpaired
surrogate) ends a program that prints it. Neither Python syntax nor names need any of them.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from triton_util.report import Finding, Table

# Shapeless signs that some languages and emoji need: the (non-)joiners.
_JOINERS = "\u200c\u200d"
LONGEST = 10_000  # characters of one part of a finding
LAST_LINE = 10_000_000


def plain(text: str) -> str:
    """The text without control, direction, private and unpaired characters; line breaks stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character for character in text if _harmless(character))


def one_line(text: str, limit: int = 300) -> str:
    """The text as a part of one line, at most `limit` characters long."""
    return shortened(" ".join(plain(text).split()), limit)


def quoted(text: str, limit: int = 300) -> str:
    """A name as a part of one line, in quotes. Letters of any language stay letters."""
    return f"'{one_line(text, limit)}'"


def shortened(text: str, limit: int) -> str:
    """The text, cut with an ellipsis if it is longer than `limit` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def presentable(finding: Finding) -> Finding:
    """The finding with plain, bounded texts and without an impossible line number."""
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
    """The table with plain texts.

    Its caption and notes name an argument of the kernel; the judge itself writes all the rest.
    """
    if table is None:
        return None
    notes = tuple(map(one_line, table.notes))
    return replace(table, caption=one_line(table.caption), notes=notes)


def _harmless(character: str) -> bool:
    if character in "\n\t" or character in _JOINERS:
        return True
    return unicodedata.category(character)[0] != "C" and character not in "\u2028\u2029"
