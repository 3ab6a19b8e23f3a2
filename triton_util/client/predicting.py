"""`predict`: first a guess, then the answer, which the judge has and the notebook does not."""

from __future__ import annotations

import html
import math
from typing import Any

from triton_util.client import guesses
from triton_util.client.card import frame, prose
from triton_util.client.judge import JudgeProcess
from triton_util.notebook.session import Display

ASK = "Put your guess in place of `None`, a plain number, and run the cell again."
_VERDICTS = {
    "right": ("passed", "✓", "You had it."),
    "close": ("plain", "≈", "Not far off."),
    "far": ("plain", "◆", "A surprise: worth remembering."),
}


def predict(name: str, guess: Any, judge: JudgeProcess, display: Display) -> None:
    """Show the answer beside the guess, and record the first guess. If it is None, ask for one."""
    answer = judge.ask({"op": "prediction", "name": name})  # first, to report an unknown name
    number = _number(guess)
    if number is None:
        told = ASK if guess is None else f"`{guess!r}` is no number. {ASK}"
        display.show(frame("plain", "?", "First a guess", "", prose(told), "Prediction"), told)
        return
    actual, unit = float(answer["answer"]), str(answer["unit"])
    kept = guesses.load()["predictions"]
    first = kept.get(name)
    within = answer.get("within")
    verdict = guesses.grade(number, actual, None if within is None else float(within))
    if verdict == "close" and not answer["quantity"]:
        verdict = "far"  # for a row number, near is wrong: it is another row
    if first is None:
        guesses.keep("predictions", name, {"guess": number_text(number), "grade": verdict})
    lines = [
        f"You predicted {number_text(number)}. It is {number_text(actual)} {unit}".rstrip() + "."
    ]
    if verdict != "right" and answer["quantity"]:
        lines[0] += _distance(number, actual)
    if answer["because"]:
        lines.append(str(answer["because"]))
    if first is not None and first.get("guess") != number_text(number):
        lines.append(f"(Your first guess, {first.get('guess')}, is the one that is kept.)")
    state, mark, head = _VERDICTS[verdict]
    body = prose("\n\n".join(lines))
    display.show(
        frame(state, mark, html.escape(head), "", body, "Prediction"), "\n".join([head, *lines])
    )


def number_text(value: float) -> str:
    """A number in its usual notation: 1,048,576 or 0.125."""
    if math.isfinite(value) and float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.4g}"


def _number(guess: Any) -> float | None:
    if isinstance(guess, bool | str) or guess is None:
        return None
    try:
        return float(guess)
    except (TypeError, ValueError, OverflowError):
        return None


def _distance(guess: float, actual: float) -> str:
    """By what factor a guess is too high or too low; "" when a factor has no meaning."""
    if not (math.isfinite(guess) and math.isfinite(actual) and actual and guess / actual > 0):
        return ""
    factor = guess / actual
    way = "high" if factor > 1 else "low"
    return f" Your guess was {max(factor, 1 / factor):.3g} times too {way}."
