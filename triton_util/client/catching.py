"""`catch`: the learner finds an input that shows a bug, then fixes the kernel."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from triton_util.client import guesses
from triton_util.client.card import frame, prose
from triton_util.notebook.session import Display

State = Literal["no-input", "missed", "caught", "not-yet", "mended"]
_HEADS: dict[State, tuple[str, str, str]] = {
    "no-input": ("plain", "?", "First an input"),
    "missed": ("plain", "○", "Missed"),
    "caught": ("failed", "✗", "Caught"),
    "not-yet": ("failed", "✗", "Fixed for this input, not for all"),
    "mended": ("passed", "✓", "Fixed"),
}


@dataclass(frozen=True)
class Outcome:
    """The result of a launcher on one input: what was wrong, or "" if it was correct."""

    arguments: tuple[Any, ...]
    wrong: str


def catch(
    name: str,
    run: Callable[..., Any],
    arguments: tuple[Any, ...],
    right: Callable[..., Any],
    others: Iterable[tuple[Any, ...]],
    display: Display,
) -> State:
    """Run a launcher on the learner's input; if correct and the bug was caught before, on others.

    run: the launcher, called with the arguments; right: returns the correct result.
    """
    if not arguments or any(argument is None for argument in arguments):
        return _show(
            display, "no-input", "Put an input in place of `None`, and run the cell again."
        )
    outcome = _try(run, arguments, right)
    caught_before = name in guesses.load()["bugs"]
    if outcome.wrong:
        guesses.keep("bugs", name, "caught")
        told = f"{outcome.wrong}\n\nNow fix the kernel, and run this cell again."
        return _show(display, "caught", told)
    if not caught_before:
        return _show(
            display,
            "missed",
            "On this input the result is right, so a test with it would pass. Which input does "
            "the mistake touch?",
        )
    for other in others:
        with contextlib.redirect_stdout(io.StringIO()):  # hide prints for other inputs
            outcome = _try(run, other, right)
        if outcome.wrong:
            return _show(display, "not-yet", f"{outcome.wrong}")
    guesses.keep("bugs", name, "mended")
    return _show(display, "mended", "Correct on the input that caught it, and on others.")


def _try(run: Callable[..., Any], arguments: tuple[Any, ...], right: Callable[..., Any]) -> Outcome:
    import torch

    call = ", ".join(_short(argument) for argument in arguments)
    expected = right(*arguments)
    try:
        actual = run(*arguments)
    except Exception as error:  # a fault found by the checked interpreter, or a learner's error
        return Outcome(arguments, f"For {call} the launch was stopped:\n\n{str(error).strip()}")
    if actual is None:
        return Outcome(arguments, f"For {call} the launcher returned nothing.")
    if actual.shape == expected.shape and torch.equal(actual, expected):
        return Outcome(arguments, "")
    return Outcome(
        arguments, f"For {call} it gave {_short(actual)}, and {_short(expected)} is right."
    )


def _short(value: Any) -> str:
    """The first numbers of a tensor as a list."""
    if not hasattr(value, "tolist"):
        return repr(value)
    numbers = value.flatten()[:12].tolist()
    more = ", …" if value.numel() > 12 else ""
    return f"`[{', '.join(f'{number:g}' for number in numbers)}{more}]`"


def _show(display: Display, state: State, told: str) -> State:
    look, mark, head = _HEADS[state]
    display.show(frame(look, mark, head, "", prose(told), head), f"{mark} {head}. {told}")
    return state
