"""Puzzles as HTML: the question in a card, and the whole puzzle for pages without widgets."""

from __future__ import annotations

import html

from triton_util.client.card import frame, prose
from triton_util.puzzles.items import OrderItem
from triton_util.puzzles.puzzle import Puzzle


def question_html(puzzle: Puzzle, inside: str = "") -> str:
    """The question; `inside`, which is HTML, goes below it in the card."""
    body = f"{prose(puzzle.asks)}{inside}"
    return frame("plain", "?", html.escape(puzzle.title), "", body, f"Practice, {puzzle.title}")


def puzzle_html(puzzle: Puzzle) -> str:
    """The whole puzzle for pages without widgets, with how to answer by numbers."""
    shown = puzzle.text().partition("\n\n")[2]
    return question_html(puzzle, f"<pre>{html.escape(shown)}</pre>")


def around_html(puzzle: Puzzle) -> tuple[str, str]:
    """The lines before and after those to be ordered; "" if there are none."""
    item = puzzle.item
    if not isinstance(item, OrderItem):
        return "", ""
    return _given(item.before), _given(item.after)


def _given(lines: tuple[str, ...]) -> str:
    return f"<pre>{html.escape(chr(10).join(lines))}</pre>" if lines else ""
