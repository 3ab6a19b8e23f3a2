"""Hints, one step at a time: a nudge, then an idea, then almost the line itself."""

from __future__ import annotations

import html

from triton_util.client import remembered
from triton_util.client.card import frame, prose
from triton_util.client.phrases import NotThere

_last = ""


def follow(exercise: str) -> None:
    """Make `hint()` without a name show hints for this exercise from now on."""
    global _last
    _last = exercise


def last() -> str:
    """The exercise that was checked last. Raises NotThere before the first check."""
    if not _last:
        raise NotThere('say of which exercise: `hint("vector_add")`; or check one first')
    return _last


def choose(exercise: str, hints: list[str], step: int | None) -> int:
    """The step to show, from 1: the requested one, or the one after the last that was shown.

    Shown steps are recorded beside the progress and survive restarts. Raises NotThere for a step
    that does not exist.
    """
    given = remembered.load("hints").get(exercise, 0)
    given = given if isinstance(given, int) else 0
    if step is None:
        step = min(given + 1, len(hints))
    if not isinstance(step, int) or isinstance(step, bool) or not 1 <= step <= len(hints):
        raise NotThere(f"`{exercise}` has the hints 1 to {len(hints)}, and no hint {step!r}")
    remembered.keep("hints", exercise, max(step, given))
    return step


def hint_html(exercise: str, hints: list[str], step: int) -> str:
    """The card with the chosen hint."""
    verdict = f"Hint {step} of {len(hints)} for <code>{html.escape(exercise)}</code>"
    body = prose(hints[step - 1]) + f'<p class="tw-tier">{html.escape(_more(step, hints))}</p>'
    return frame("plain", "?", verdict, "", body, f"Hint {step} of {len(hints)} for {exercise}")


def hint_text(exercise: str, hints: list[str], step: int) -> str:
    """The chosen hint as text."""
    head = f"Hint {step} of {len(hints)} for {exercise}"
    return f"{head}\n  {hints[step - 1]}\n  {_more(step, hints)}"


def _more(step: int, hints: list[str]) -> str:
    if step == len(hints):
        return "This was the last hint."
    return "Run the cell again for the next hint."
