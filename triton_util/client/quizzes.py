"""Quiz questions: radio buttons where widgets work, HTML or plain text where they do not.

Each choice has an answer of its own, so that a wrong one teaches something too.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from triton_util.client.card import frame, inline, prose
from triton_util.keyboard import keeps_its_keys, keys_html

LETTERS = "abcdefgh"
# ipywidgets makes every choice one line high: of two lines the second lay over the next choice.
_STYLE = """
.tw-quiz.tw-quiz.tw-quiz .widget-radio-box label { display: block; position: relative;
  height: auto; line-height: 1.45; padding: .15em 0 .15em 1.7em; white-space: normal; }
.tw-quiz.tw-quiz.tw-quiz .widget-radio-box input { position: absolute; left: 0; top: .15em;
  height: 1.45em; margin: 0; }
"""


@dataclass(frozen=True)
class Choice:
    text: str
    answer: str
    right: bool


@dataclass(frozen=True)
class Question:
    prompt: str
    choices: tuple[Choice, ...]


def read_questions(answer: dict[str, Any]) -> tuple[Question, ...]:
    """The questions in the judge's answer."""
    return tuple(
        Question(
            str(item["prompt"]),
            tuple(
                Choice(str(choice["text"]), str(choice["answer"]), bool(choice["right"]))
                for choice in item["choices"]
            ),
        )
        for item in answer["questions"]
    )


def verdict_text(choice: Choice) -> str:
    """What to say to somebody who picked this choice."""
    return f"{'✓ Right.' if choice.right else '✗ Not quite.'} {choice.answer}"


def verdict_html(choice: Choice) -> str:
    """The same, as a small card."""
    state, mark, word = ("passed", "✓", "Right") if choice.right else ("failed", "✗", "Not quite")
    return frame(state, mark, word, "", prose(choice.answer), word)


def quiz_text(lesson: str, questions: tuple[Question, ...]) -> str:
    """All questions with lettered choices, and how to answer one."""
    lines = [f"Quiz: {lesson}"]
    for number, question in enumerate(questions, start=1):
        lines += ["", f"{number}. {question.prompt}"]
        lines += [
            f"   {letter}) {choice.text}"
            for letter, choice in zip(LETTERS, question.choices, strict=False)
        ]
    lines += ["", f'Answer with quiz("{lesson}", question, "letter"): quiz("{lesson}", 1, "a")']
    return "\n".join(lines)


def quiz_html(lesson: str, questions: tuple[Question, ...]) -> str:
    """The questions where no widget can be shown: each choice opens its own answer."""
    parts = []
    for number, question in enumerate(questions, start=1):
        parts.append(f"<p><b>{number}.</b> {inline(question.prompt)}</p>")
        parts += [
            f"<details><summary>{inline(choice.text)}</summary>"
            f"<p>{inline(verdict_text(choice))}</p></details>"
            for choice in question.choices
        ]
    label = f"Quiz: {lesson}"
    return frame("plain", "?", html.escape(label), "", "".join(parts), label)


def pick(lesson: str, questions: tuple[Question, ...], number: object, letter: object) -> Choice:
    """The choice named by number and letter. Raises ValueError in words where there is none."""
    numbers = range(1, len(questions) + 1)
    if not isinstance(number, int) or isinstance(number, bool) or number not in numbers:
        raise ValueError(f"the quiz {lesson!r} has the questions 1 to {len(questions)}")
    choices = questions[number - 1].choices
    letters = LETTERS[: len(choices)]
    if not isinstance(letter, str) or len(letter) != 1 or letter.lower() not in letters:
        raise ValueError(f"question {number} has the choices {', '.join(letters)}")
    return choices[letters.index(letter.lower())]


def quiz_widget(questions: tuple[Question, ...]) -> Any:
    """An ipywidgets box: one group of radio buttons for each question, its answer below.

    Arrow keys move within a group; the answer follows the choice.
    """
    import ipywidgets as widgets

    box = widgets.VBox(
        [_question_widget(number, question) for number, question in enumerate(questions, start=1)]
    )
    return keeps_its_keys(box.add_class("tw-quiz"))


def _question_widget(number: int, question: Question) -> Any:
    import ipywidgets as widgets

    asked = frame("plain", str(number), inline(question.prompt), "", "", "Question")
    prompt = widgets.HTML(keys_html(_STYLE) + asked)
    buttons = widgets.RadioButtons(
        # The text carries the letter, so that two choices of equal text stay two choices.
        options=[
            (f"{letter})  {choice.text.replace('`', '')}", index)
            for index, (letter, choice) in enumerate(zip(LETTERS, question.choices, strict=False))
        ],
        value=None,
        tooltip=question.prompt,  # what a screen reader says of the group
        layout=widgets.Layout(width="auto", margin="0 0 0 1em"),
    )
    answer = widgets.HTML()

    def show(change: dict[str, Any]) -> None:
        chosen = change["new"]
        answer.value = "" if chosen is None else verdict_html(question.choices[chosen])

    buttons.observe(show, names="value")
    return widgets.VBox([prompt, buttons, answer])
