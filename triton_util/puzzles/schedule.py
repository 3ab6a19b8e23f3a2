"""When an item comes back: after 1, 3, 7 and 21 days; a miss restarts the series.

Dates are in the learner's time zone. They are stored with the other small values beside the
progress.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from triton_util.client import remembered

DAYS = (1, 3, 7, 21)
PUZZLES, QUESTIONS = "puzzles", "questions"


def today() -> date:
    """Today's date in the learner's time zone."""
    return datetime.now().astimezone().date()


def missed(kind: str, name: str) -> None:
    """Schedule a missed item for tomorrow."""
    _keep(kind, name, 0)


def held(kind: str, name: str) -> None:
    """After a correct answer, schedule the next, longer interval; after the last one, none."""
    _keep(kind, name, _step(remembered.load(kind).get(name)) + 1)


def due(kind: str) -> list[str]:
    """The items that have come back, the longest waiting first."""
    dates = {name: _date(kept) for name, kept in remembered.load(kind).items()}
    waiting = [(on, name) for name, on in dates.items() if on is not None and on <= today()]
    return [name for _, name in sorted(waiting)]


def waiting(kind: str) -> dict[str, date]:
    """When each scheduled item comes back, by name."""
    dates = {name: _date(kept) for name, kept in remembered.load(kind).items()}
    return {name: on for name, on in dates.items() if on is not None}


def told(on: date | None) -> str:
    """When an item comes back, in a sentence."""
    if on is None:
        return "It does not come back: you have it."
    days = (on - today()).days
    return f"It comes back {'tomorrow' if days == 1 else f'in {days} days'}."


def known(kind: str) -> Mapping[str, Any]:
    """Every item that was tried, whether it comes back or not."""
    return remembered.load(kind)


def _keep(kind: str, name: str, step: int) -> None:
    due = today() + timedelta(DAYS[step]) if step < len(DAYS) else None
    remembered.keep(kind, name, {"step": step, "due": due.isoformat() if due else ""})


def _step(kept: Any) -> int:
    step = kept.get("step", 0) if isinstance(kept, dict) else 0
    return step if isinstance(step, int) and step >= 0 else 0


def _date(kept: Any) -> date | None:
    try:
        return date.fromisoformat(kept["due"])
    except (TypeError, KeyError, ValueError):
        return None
