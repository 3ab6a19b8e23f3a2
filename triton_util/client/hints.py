"""Hints, one step at a time: a nudge, an idea, nearly the line."""

from __future__ import annotations

import html

from triton_util.client.card import frame, prose

_given: dict[str, int] = {}


def choose(exercise: str, hints: list[str], step: int | None) -> int:
    """The step to show, from 1: the one asked for, or the one after the last that was shown.

    Raises ValueError for a step that is not there.
    """
    if step is None:
        step = min(_given.get(exercise, 0) + 1, len(hints))
    if not isinstance(step, int) or isinstance(step, bool) or not 1 <= step <= len(hints):
        raise ValueError(f"{exercise} has the hints 1 to {len(hints)}, and no hint {step!r}")
    _given[exercise] = max(step, _given.get(exercise, 0))
    return step


def forget() -> None:
    """Start again with the first hint of every exercise."""
    _given.clear()


def hint_html(exercise: str, hints: list[str], step: int) -> str:
    """The card with the chosen hint."""
    verdict = f"Hint {step} of {len(hints)} for <code>{html.escape(exercise)}</code>"
    body = prose(hints[step - 1]) + f'<p class="tw-tier">{html.escape(_more(step, hints))}</p>'
    return frame("plain", "?", verdict, "", body, f"Hint {step} of {len(hints)} for {exercise}")


def hint_text(exercise: str, hints: list[str], step: int) -> str:
    """The same as text."""
    head = f"Hint {step} of {len(hints)} for {exercise}"
    return f"{head}\n  {hints[step - 1]}\n  {_more(step, hints)}"


def _more(step: int, hints: list[str]) -> str:
    if step == len(hints):
        return "This was the last hint."
    return "Run the cell again for the next hint."
