"""Choose the next puzzle, from passed exercises: first those that came back, then new ones."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Sequence

from triton_util.client import attempts, remembered
from triton_util.client.phrases import NotThere
from triton_util.puzzles import schedule
from triton_util.puzzles.items import Item, Lines, OrderItem, load

IMPORT = "from triton_util import practice, review"
_OPEN = "open"


def draw(seed: int = 0) -> tuple[Item, bool]:
    """The open puzzle, else the one that has waited longest, else a new one; and whether it was
    opened now.

    The same seed gives the same new puzzles. Raises NotThere, with the reason, if there is none.
    """
    items = {item.id: item for item in passed()}
    if not items:
        raise NotThere(
            "Puzzles come from exercises that you have passed, and none is passed yet: "
            "`progress()` shows where you are."
            if load()
            else "This installation has no puzzles: they were taken out of it."
        )
    opened = _opened(items.keys())
    if opened:
        return items[opened], False
    chosen = _next(sorted(items), seed)
    remembered.keep(_OPEN, "puzzle", chosen)
    return items[chosen], True


def passed() -> tuple[Item, ...]:
    """The puzzles of exercises that were passed."""
    recorded = attempts.load()
    done = {name for name, tried in recorded.items() if tried.passed}
    return tuple(item for item in load() if item.exercise in done)


def settle(item: Item, right: bool) -> None:
    """Schedule when a puzzle comes back; only the first answer after it was drawn counts."""
    if remembered.load(_OPEN).get("answered") != item.id:
        remembered.keep(_OPEN, "answered", item.id)
        (schedule.held if right else schedule.missed)(schedule.PUZZLES, item.id)


def told() -> str:
    """One line for `progress()` on what has come back, and how to practise it; "" if nothing."""
    here = {item.id for item in passed()}
    tried = schedule.known(schedule.PUZZLES)
    puzzles = len([name for name in schedule.due(schedule.PUZZLES) if name in here])
    questions = len(schedule.due(schedule.QUESTIONS))
    parts = []
    if here:
        solved = len(here & tried.keys())
        parts.append(f"`practice()`: {solved} of {len(here)} puzzles tried, {puzzles} due again")
    if questions:
        parts.append(f"`review()`: {questions} missed question{'s' if questions > 1 else ''} due")
    return f"{'; '.join(parts)} (`{IMPORT}`)." if parts else ""


def back(item: Item) -> str:
    """When a puzzle comes back, in a sentence; "" if it was not answered yet."""
    if item.id not in schedule.known(schedule.PUZZLES):
        return ""
    return schedule.told(schedule.waiting(schedule.PUZZLES).get(item.id))


def close() -> None:
    """Close the puzzle, so that the next `draw` gives another one."""
    remembered.keep(_OPEN, "puzzle", "")
    remembered.keep(_OPEN, "answered", "")


def shuffled(item: OrderItem, seed: int = 0) -> Lines:
    """The lines to order and those that do not belong, shuffled to a wrong order."""
    lines = [*item.asked, *item.extra]
    mixed = list(lines)
    chance = random.Random(f"{seed} {item.id}")
    while mixed[: len(item.asked)] == list(item.asked):
        chance.shuffle(mixed)
    return tuple(mixed)


def _opened(known: Collection[str]) -> str:
    chosen = remembered.load(_OPEN).get("puzzle")
    return chosen if isinstance(chosen, str) and chosen in known else ""


def _next(names: Sequence[str], seed: int) -> str:
    due = [name for name in schedule.due(schedule.PUZZLES) if name in names]
    if due:
        return due[0]
    tried = schedule.known(schedule.PUZZLES)
    new = [name for name in names if name not in tried]
    if new:
        return min(new, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
    waiting = schedule.waiting(schedule.PUZZLES)
    soonest = [name for _, name in sorted((on, name) for name, on in waiting.items())]
    known = [name for name in soonest if name in names]
    if known:
        return known[0]
    raise NotThere(
        "You have solved every puzzle of the exercises that you passed, four times with growing "
        "pauses. Pass another exercise for new ones."
    )
