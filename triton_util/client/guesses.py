"""The learner's guesses, caught bugs and answers, in a file beside the progress.

The first guess of each prediction counts. A bug is caught once an input shows it, and fixed once
the kernel is correct on that input and on others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from triton_util.client import attempts

_FILE = "guesses.json"
_KINDS = ("predictions", "bugs", "answers")
Kept = dict[str, dict[str, Any]]

# A guess within these factors is right, or close. A whole number can be guessed exactly: then only
# that number is right, and numbers near it are close.
RIGHT, CLOSE = 1.02, 2.0
RIGHT_WHOLE, CLOSE_WHOLE = 1.0, 1.1


def load() -> Kept:
    """Everything that was recorded, by kind; empty if there is no file or it cannot be read."""
    try:
        stored = json.loads((attempts.folder() / _FILE).read_text(encoding="utf-8"))
        return {kind: dict(stored.get(kind, {})) for kind in _KINDS}
    except (OSError, ValueError, AttributeError, TypeError):
        return {kind: {} for kind in _KINDS}


def keep(kind: str, name: str, value: Any) -> bool:
    """Record one value. Returns False if that failed (a full disk, for example)."""
    kept = load()
    kept[kind][name] = value
    try:
        attempts.write(
            attempts.folder() / _FILE, json.dumps({"version": 1, **kept}, indent=1) + "\n"
        )
    except OSError:
        return False
    return True


def grade(guess: float, answer: float, within: float | None = None) -> str:
    """How good a guess is: "right", "close" or "far".

    within: the factor within which a guess is right, if the prediction sets its own.
    """
    if guess == answer or (guess != guess and answer != answer):  # NaN is an answer
        return "right"
    factor = guess / answer if answer else 0.0
    if factor <= 0 or factor != factor:
        return "far"
    factor = max(factor, 1 / factor)
    whole = within is None and float(answer).is_integer()
    right, close = (RIGHT_WHOLE, CLOSE_WHOLE) if whole else (within or RIGHT, CLOSE)
    return "right" if factor <= right else "close" if factor <= close else "far"


def told(kept: Kept) -> str:
    """One line on the guesses and the caught bugs; "" if there are none."""
    parts = []
    predictions = kept["predictions"]
    if predictions:
        grades = [str(item.get("grade")) for item in predictions.values()]
        parts.append(
            f"{_count(len(predictions), 'prediction')}: {grades.count('right')} right, "
            f"{grades.count('close')} close, {grades.count('far')} further off"
        )
    bugs: Mapping[str, Any] = kept["bugs"]
    if bugs:
        mended = sum(item == "mended" for item in bugs.values())
        parts.append(f"{_count(len(bugs), 'bug')} caught, {mended} fixed")
    if kept["answers"]:
        parts.append(f"{_count(len(kept['answers']), 'case study', 'case studies')} answered")
    return "; ".join(parts) + "." if parts else ""


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
