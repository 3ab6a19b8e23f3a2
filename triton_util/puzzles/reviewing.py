"""`review`: quiz questions that were missed come back after some days, one at a time."""

from __future__ import annotations

from dataclasses import dataclass

from triton_util.client import quizzes
from triton_util.client.card import frame, head_and_rest, prose, without_fences
from triton_util.client.judge import JudgeProcess, JudgeUnavailable
from triton_util.client.quizzes import LETTERS, Choice, Question
from triton_util.environment import in_notebook
from triton_util.keyboard import button, keeps_its_keys, keys_html
from triton_util.notebook.session import Display
from triton_util.puzzles import schedule


@dataclass(frozen=True)
class Returned:
    """A question that has come back. `waiting` is how many others have."""

    lesson: str
    name: str  # its name in the schedule
    question: Question
    waiting: int

    def answer(self, choice: Choice) -> str:
        """Record the answer, and say in a sentence when the question comes back."""
        quizzes.keep(self.lesson, self.question, choice)
        if choice.right:
            schedule.held(schedule.QUESTIONS, self.name)
        return schedule.told(schedule.waiting(schedule.QUESTIONS).get(self.name))


def review(letter: str | None, judge: JudgeProcess, display: Display) -> None:
    """Show the question that has waited longest, or answer it with the choice of that letter."""
    found = due(judge)
    if found is None:
        told = _nothing()
        display.show(frame("plain", "◆", "Review", "", prose(told), "Review"), told)
    elif letter is not None:
        choice = quizzes.pick(found.lesson, (found.question,), 1, letter)
        told = f"{quizzes.verdict_text(choice)}\n\n{found.answer(choice)}"
        display.show(quizzes.verdict_html(choice), told)
    elif in_notebook():
        widget = _Asking(found, judge).box
        shown = quizzes.quiz_html(found.lesson, (found.question,))
        display.widget(widget, shown, text(found))
    else:
        print(text(found))


def due(judge: JudgeProcess) -> Returned | None:
    """The question that has waited longest, ignoring questions that no longer exist."""
    names = schedule.due(schedule.QUESTIONS)
    for place, name in enumerate(names):
        lesson = name.partition("/")[0]
        for question in _questions(lesson, judge):
            if quizzes.name_of(lesson, question) == name:
                return Returned(lesson, name, question, len(names) - place - 1)
    return None


def _questions(lesson: str, judge: JudgeProcess) -> tuple[Question, ...]:
    try:
        return quizzes.read_questions(judge.ask({"op": "quiz", "lesson": lesson}), lesson)
    except JudgeUnavailable:
        return ()


def text(found: Returned) -> str:
    """The question with lettered choices, and how to answer it."""
    lines = [f"Review: {found.lesson}", "", without_fences(found.question.prompt)]
    lines += [
        f"   {letter}) {choice.text}"
        for letter, choice in zip(LETTERS, found.question.choices, strict=False)
    ]
    return "\n".join([*lines, "", 'Answer with a letter: review("a")'])


def _nothing() -> str:
    dates = schedule.waiting(schedule.QUESTIONS).values()
    if not dates:
        return "No question waits. One that you miss in a `quiz` comes back here a day later."
    return f"No question waits today. The next one comes back on {min(dates).isoformat()}."


class _Asking:
    """The question as radio buttons, with a button to answer, because arrow keys only choose."""

    def __init__(self, found: Returned, judge: JudgeProcess) -> None:
        import ipywidgets as widgets

        self.judge = judge
        self.prompt = widgets.HTML()
        self.choices = widgets.RadioButtons(layout=widgets.Layout(width="auto", margin="0 0 0 1em"))
        self.told = widgets.HTML().add_class("tw-live")
        self.answer = button("Answer", self._answer)
        self.next = button("Next question", self._next)
        buttons = widgets.HBox([self.answer, self.next])
        box = widgets.VBox([self.prompt, self.choices, buttons, self.told]).add_class("tw-quiz")
        self.box = keeps_its_keys(box)
        self._ask(found)

    def _ask(self, found: Returned) -> None:
        self.found = found
        name = f"Review of {found.lesson}: {found.question.prompt.replace('`', '')}"
        summary = f"{found.waiting} more" if found.waiting else ""
        head, rest = head_and_rest(found.question.prompt)
        asked = frame("plain", "?", head, summary, rest, name)
        self.prompt.value = keys_html(quizzes.STYLE) + asked
        self.choices.options = quizzes.labelled(found.question)
        self.choices.value = None
        self.choices.tooltip = name
        self.told.value = ""
        self.answer.disabled, self.next.disabled = False, True

    def _answer(self) -> None:
        if self.choices.value is None:
            self.told.value = "<p>Choose one first.</p>"
            return
        choice = self.found.question.choices[self.choices.value]
        back = self.found.answer(choice)
        self.told.value = f"{quizzes.verdict_html(choice)}<p>{back}</p>"
        self.answer.disabled, self.next.disabled = True, not self.found.waiting

    def _next(self) -> None:
        found = due(self.judge)
        if found is not None:
            self._ask(found)
