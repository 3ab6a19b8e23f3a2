"""A puzzle with controls: the lines as one group of radio buttons, and buttons that move one.

Arrow keys choose a line, Tab moves to the buttons, and the text of each button says what it does.
A live region announces each change.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from triton_util.client.cards.style import style
from triton_util.client.phrases import NotThere
from triton_util.keyboard import button, keeps_its_keys, keys_html
from triton_util.puzzles import drawing
from triton_util.puzzles.items import OrderItem
from triton_util.puzzles.page import around_html, question_html
from triton_util.puzzles.puzzle import Puzzle
from triton_util.puzzles.telling import Told

_STYLE = """
.tw-puzzle.tw-puzzle.tw-puzzle .widget-radio-box label { display: block; position: relative;
  height: auto; line-height: 1.5; padding: .12em .4em .12em calc(1.9em + 8ch);
  text-indent: -8ch; white-space: pre-wrap;
  overflow-wrap: anywhere; border-radius: 4px; font-family: ui-monospace, "JetBrains Mono", Menlo,
  Consolas, "DejaVu Sans Mono", monospace; font-size: 13px; color: var(--tw-ink); }
.tw-puzzle.tw-puzzle.tw-puzzle .widget-radio-box label:has(input:checked) {
  background: var(--tw-accent-soft); box-shadow: inset 3px 0 var(--tw-accent); }
.tw-puzzle.tw-puzzle.tw-puzzle .widget-radio-box input { position: absolute; left: .4em;
  top: .25em; height: 1.3em; margin: 0; }
.tw-puzzle.tw-puzzle.tw-puzzle .widget-radio { width: auto; max-width: 100%; }
.tw-puzzle.tw-puzzle.tw-puzzle .tw-moves { flex-wrap: wrap; gap: .3em; }
.tw-puzzle.tw-puzzle.tw-puzzle .tw-moves button { width: auto; padding: 0 1em; }
.tw-puzzle.tw-puzzle.tw-puzzle .tw-given pre { margin: .2em 0; padding: 0 .4em 0 1.9em;
  white-space: pre-wrap; overflow-wrap: anywhere; color: var(--tw-muted); background: none;
  font-size: 13px; }
"""
_OUT = "left out:  "


def puzzle_widget(puzzle: Puzzle, seed: int = 0) -> Any:
    """The puzzle as an ipywidgets box; a new puzzle replaces it on request."""
    import ipywidgets as widgets

    box = keeps_its_keys(widgets.VBox().add_class("tw-puzzle"))

    def show(puzzle: Puzzle) -> None:
        kind = _Ordering if isinstance(puzzle.item, OrderItem) else _Finding
        box.children = kind(puzzle, another).shown

    def another() -> None:
        try:
            show(Puzzle(*drawing.draw(seed), seed))
        except NotThere as error:
            box.children = [widgets.HTML(Told("plain", "No more for now", str(error)).html())]

    show(puzzle)
    return box


class _Controls:
    """The controls that both kinds have: the question, a group of lines, buttons, the response."""

    def __init__(self, puzzle: Puzzle, again: Callable[[], None]) -> None:
        import ipywidgets as widgets

        self.puzzle = puzzle
        asked = f"{keys_html(_STYLE)}{question_html(puzzle)}"
        before, after = (widgets.HTML(f"{style()}{text}") for text in around_html(puzzle))
        for given in (before, after):
            given.add_class("tw-given")
        self.lines = widgets.RadioButtons(
            options=self.options(), tooltip=puzzle.title, layout=widgets.Layout(width="auto")
        )
        self.told = widgets.HTML().add_class("tw-live")
        self.buttons = {name: button(name, act) for name, act in self.actions().items()}
        self.buttons["Show the answer"] = button("Show the answer", self.give_up)
        self.buttons["Another one"] = button("Another one", again)
        moves = widgets.HBox(list(self.buttons.values())).add_class("tw-moves")
        self.shown = [widgets.HTML(asked), before, self.lines, after, moves, self.told]
        self.follow()

    def options(self) -> list[tuple[str, int]]:
        """The lines as they are shown, each with its number."""
        raise NotImplementedError

    def actions(self) -> dict[str, Callable[[], None]]:
        """The names of the buttons and what each does."""
        raise NotImplementedError

    def judge(self, numbers: list[int]) -> None:
        self.told.value = self.puzzle.judge([number + 1 for number in numbers]).html()
        self.follow()

    def give_up(self) -> None:
        self.told.value = self.puzzle.give_up().html()
        self.follow()

    def follow(self) -> None:
        """Enable the buttons; once this puzzle is solved, only the one for another puzzle."""
        for name, one in self.buttons.items():
            one.disabled = self.puzzle.solved != (name == "Another one")


class _Finding(_Controls):
    """Fix the bug: the learner picks one line."""

    def options(self) -> list[tuple[str, int]]:
        lines = enumerate(self.puzzle.lines)
        return [(_kept(f"{i + 1:>2}  {line}"), i) for i, line in lines if line]

    def actions(self) -> dict[str, Callable[[], None]]:
        return {"This line is wrong": lambda: self.judge([self.lines.value])}


class _Ordering(_Controls):
    """Put in order: lines move up and down, and out of the answer."""

    def __init__(self, puzzle: Puzzle, again: Callable[[], None]) -> None:
        self.order = list(range(len(puzzle.lines)))
        self.out: set[int] = set()
        super().__init__(puzzle, again)

    def options(self) -> list[tuple[str, int]]:
        lines = self.puzzle.lines
        return [(_kept((_OUT if i in self.out else "") + lines[i]), i) for i in self.order]

    def actions(self) -> dict[str, Callable[[], None]]:
        return {
            "Move up": lambda: self.move(-1),
            "Move down": lambda: self.move(1),
            "Leave out / take in": self.leave_out,
            "Check the order": lambda: self.judge([i for i in self.order if i not in self.out]),
        }

    def move(self, step: int) -> None:
        """Swap the chosen line with its neighbour; at an end it stays."""
        here = self.order.index(self.lines.value)
        there = here + step
        if 0 <= there < len(self.order):
            self.order[here], self.order[there] = self.order[there], self.order[here]
        self.show()

    def leave_out(self) -> None:
        self.out ^= {self.lines.value}
        self.show()

    def show(self) -> None:
        """Show the lines in order; the chosen one stays chosen, and its place is announced."""
        chosen = self.lines.value
        self.lines.options = self.options()
        self.lines.value = chosen
        place = f"Line {self.order.index(chosen) + 1} of {len(self.order)}"
        line = html.escape(self.puzzle.lines[chosen].strip())
        left = " is left out" if chosen in self.out else ""
        self.told.value = f"<p>{place}: <code>{line}</code>{left}</p>"


def _kept(line: str) -> str:
    """The line with leading blanks that browsers do not remove."""
    text = line.lstrip(" ")
    return "\u00a0" * (len(line) - len(text)) + text
