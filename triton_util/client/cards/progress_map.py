"""`progress()` as a map: a tile for each lesson, and the next step above them."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class LessonTile:
    """One lesson: its file's name, and how many of its exercises and questions are done.

    `begun`: the learner has tried something. A lesson may lack exercises, a quiz, or both.
    """

    place: str
    done: int
    exercises: int
    right: int
    questions: int
    begun: bool

    @property
    def state(self) -> str:
        """ "done", "begun" or "open"; "none" for a lesson without exercises and questions."""
        if not self.exercises and not self.questions:
            return "none"
        if self.done == self.exercises and self.right == self.questions:
            return "done"
        return "begun" if self.begun or self.done or self.right else "open"

    @property
    def number(self) -> str:
        return self.place.partition("_")[0]

    @property
    def name(self) -> str:
        return self.place.partition("_")[2].replace("_", " ")

    @property
    def told(self) -> str:
        """The count in words: `2 of 3 exercises, quiz 1 of 4`."""
        parts = []
        if self.exercises:
            plural = "" if self.exercises == 1 else "s"
            parts.append(f"{self.done} of {self.exercises} exercise{plural}")
        if self.questions:
            parts.append(f"quiz {self.right} of {self.questions}")
        return ", ".join(parts) or "to read"


_MARKS = {"done": "✓", "begun": "◐", "open": "○", "none": "·"}
_WORDS = {"done": "done", "begun": "under way", "open": "not begun", "none": "to read"}


def map_html(tiles: Sequence[LessonTile], following: str = "") -> str:
    """The tiles in the order of the course; `following` is the place of the next lesson."""
    items = "".join(_tile(tile, tile.place == following) for tile in tiles)
    return f'<ol class="tw-tiles" aria-label="Lessons">{items}</ol>'


def _tile(tile: LessonTile, following: bool) -> str:
    name = html.escape(tile.name)
    if Path(f"{tile.place}.ipynb").is_file():
        name = f'<a href="{html.escape(tile.place, quote=True)}.ipynb">{name}</a>'
    words = "next" if following else _WORDS[tile.state]
    share = 100 * (tile.done + tile.right) / ((tile.exercises + tile.questions) or 1)
    bar = f'<span class="tw-share" aria-hidden="true"><i style="width:{share:.0f}%"></i></span>'
    return (
        f'<li class="tw-tile tw-t-{tile.state}{" tw-t-next" if following else ""}">'
        f'<span class="tw-tn">{html.escape(tile.number)} '
        f'<span aria-hidden="true">{_MARKS[tile.state]}</span> <small>{words}</small></span>'
        f"<b>{name}</b>{bar}<small>{html.escape(tile.told)}</small></li>"
    )


def tiles(
    places: Sequence[str],
    exercises: Mapping[str, Sequence[str]],
    passed: set[str],
    tried: set[str],
    quizzes: Mapping[str, tuple[int, int]],
) -> list[LessonTile]:
    """A tile for each place, from its exercises by name and its quiz results by slug."""
    made = []
    for place in places:
        names = exercises.get(place, ())
        right, questions = quizzes.get(place.partition("_")[2], (0, 0))
        done = sum(name in passed for name in names)
        begun = any(name in tried for name in names)
        made.append(LessonTile(place, done, len(names), right, questions, begun))
    return made
