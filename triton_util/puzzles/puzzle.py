"""One puzzle as the learner sees it: the question, and the response to an answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from triton_util.client.phrases import NotThere
from triton_util.puzzles import drawing
from triton_util.puzzles.items import Item, Lines, OrderItem, plain
from triton_util.puzzles.ordering import conflict, same
from triton_util.puzzles.telling import Told

_READING = 1.0  # seconds; a faster answer comes from rerunning a cell, not from reading


class Puzzle:
    """What `practice()` returns: `.answer(…)` answers it, `.show_answer()` gives it up."""

    def __init__(self, item: Item, new: bool = False, seed: int = 0) -> None:
        self.item, self.new = item, new
        self._shown = time.monotonic()
        self.lines: Lines = (
            drawing.shuffled(item, seed) if isinstance(item, OrderItem) else item.lines
        )
        self.solved = False

    def answer(self, answer: Any) -> None:
        """Answer with line numbers: `[3, 1, 2]` in their order, or the number of a wrong line."""
        if self.new and time.monotonic() - self._shown < _READING:
            Told("plain", "This is another puzzle", "Read it first, then answer it.").show()
            return
        self.judge(answer).show()

    def show_answer(self) -> None:
        """Give this puzzle up; it comes back tomorrow."""
        self.give_up().show()

    def judge(self, answer: Any) -> Told:
        """The response to an answer; the first answer decides when the puzzle comes back."""
        try:
            numbers = self._numbers(answer)
        except NotThere as error:
            return Told("plain", "No answer yet", str(error))
        told = self._ordered(numbers) if isinstance(self.item, OrderItem) else self._found(numbers)
        if self.solved:  # answered once more, to see the response again
            return told
        drawing.settle(self.item, told.state == "passed")
        return self._over(told) if told.state == "passed" else told

    def give_up(self) -> Told:
        """The correct answer; the puzzle counts as missed, unless it was solved before."""
        if not self.solved:
            drawing.settle(self.item, False)
        if isinstance(self.item, OrderItem):
            return self._over(Told("plain", "One correct order", "", plain(self.item.asked)))
        return self._over(Told("plain", self.item.title, self.item.message, self._mend()))

    def _over(self, told: Told) -> Told:
        """Add the day on which the puzzle comes back, and close it, so that the next is another."""
        if not self.solved:
            drawing.close()
        self.solved = True
        return replace(told, body=f"{told.body}\n\n{drawing.back(self.item)}".strip())

    def __repr__(self) -> str:
        return f"<practice: {self.title}>"

    def _ipython_display_(self) -> None:
        """Show nothing, because the puzzle is already there."""

    @property
    def title(self) -> str:
        what = "put the lines in order" if isinstance(self.item, OrderItem) else "find the bug"
        return f"{self.item.exercise}: {what}"

    @property
    def asks(self) -> str:
        """The question, in prose."""
        if not isinstance(self.item, OrderItem):
            which = "Which line is wrong?"
            if len(self.item.wrong) > 1:
                which = "Two lines have the same mistake: find one of them."
            what = "kernel" if any("triton.jit" in line for line in self.item.lines) else "function"
            return f"The judge refuses this {what}. {which}"
        one = len(self.item.extra) == 1
        out = "One does not belong: leave it out." if one else "Two do not belong: leave them out."
        return (
            f"Put these lines in a correct order. {out} Lines that do not depend on each "
            "other may be in any order."
        )

    def text(self) -> str:
        """The puzzle as text, for output without widgets."""
        shown = [f"Practice. {self.title}", self.asks, ""]
        item = self.item
        before, after = (item.before, item.after) if isinstance(item, OrderItem) else ((), ())
        shown += [f"      {line}" for line in before]
        shown += [f"{i:>4})  {line}" if line else "" for i, line in enumerate(self.lines, 1)]
        shown += [f"      {line}" for line in after]
        example = "[3, 1, 2]" if isinstance(item, OrderItem) else "3"
        how = f"Answer with numbers: practice().answer({example})"
        return "\n".join([*shown, "", f"{how}, or give it up: practice().show_answer()"])

    def _numbers(self, answer: Any) -> list[int]:
        given = [answer] if isinstance(answer, int) else answer
        last = len(self.lines)
        if not isinstance(given, Sequence) or isinstance(given, str) or not given:
            raise NotThere("An answer is the number of a line, or a list of numbers.")
        for number in given:
            if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= last:
                raise NotThere(f"The lines have the numbers 1 to {last}: there is no {number!r}.")
        if len(set(given)) < len(given):
            raise NotThere("Use each line once: a number occurs twice.")
        return [number - 1 for number in given]

    def _ordered(self, chosen: Sequence[int]) -> Told:
        assert isinstance(self.item, OrderItem)
        item, lines = self.item, [self.lines[place] for place in chosen]
        text = [*item.before, *lines, *item.after]
        if same("\n".join(item.lines), "\n".join(text)):
            return Told("passed", "Correct: this is the model solution", "")
        wrong = [line for line in lines if line in item.extra]
        if wrong:
            body = f"`{wrong[0].strip()}` does not belong. What would it compute?"
        elif len(lines) < len(item.asked):
            missing = len(item.asked) - len(lines)
            body = f"{missing} more line{'s' if missing > 1 else ''} must be in your answer."
        else:
            body = self._conflict(lines)
        return Told("failed", "Not yet", body)

    def _conflict(self, lines: Sequence[str]) -> str:
        assert isinstance(self.item, OrderItem)
        pair = conflict(self.item.asked, lines)
        if pair is None:
            return "All lines belong. One is in the wrong block: check its indentation."
        first, second = (f"`{line.strip()}`" for line in pair)
        return (
            f"All lines belong, but the order is not correct yet. Look at {first} and {second}: "
            "does one use a result of the other, or overwrite a value that the other needs?"
        )

    def _found(self, chosen: Sequence[int]) -> Told:
        item = self.item
        assert not isinstance(item, OrderItem)
        if set(chosen) <= {number for number, _ in item.wrong}:
            return Told("passed", item.title, item.message, self._mend())
        fine = next(place for place in chosen if place not in dict(item.wrong))
        line = item.lines[fine].strip()
        return Told("failed", "Not this line", f"`{line}` can stay as it is. Look for another one.")

    def _mend(self) -> str:
        item = self.item
        assert not isinstance(item, OrderItem)
        pairs = [f"{item.lines[n].strip()}    # wrong\n{right.strip()}" for n, right in item.wrong]
        return "\n\n".join(pairs)


class NoPuzzle:
    """What `practice()` returns if there is no puzzle; the reason was already shown."""

    def answer(self, answer: Any) -> None:
        """Do nothing, because there is no puzzle."""

    def show_answer(self) -> None:
        """Do nothing, because there is no puzzle."""

    def _ipython_display_(self) -> None:
        """Show nothing, because the reason is already there."""
