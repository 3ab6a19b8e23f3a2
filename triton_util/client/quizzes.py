"""Quiz questions: radio buttons where widgets work, else HTML or plain text.

Each choice has its own answer text, so that a wrong choice teaches something too.
"""

from __future__ import annotations

import hashlib
import html
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triton_util.client import remembered
from triton_util.client.card import frame, head_and_rest, inline, prose, without_fences
from triton_util.client.phrases import NotThere
from triton_util.keyboard import keeps_its_keys, keys_html
from triton_util.puzzles import schedule

LETTERS = "abcdefgh"
# ipywidgets makes every choice one line high: a second line would overlap the next choice.
STYLE = """
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


def read_questions(answer: dict[str, Any], lesson: str) -> tuple[Question, ...]:
    """Read the questions from the judge's answer, and shuffle their choices.

    The order is the same each time. Over a lesson, the right choices take every position in turn.
    """
    chance = random.Random(lesson)
    first = chance.randrange(len(LETTERS))
    return tuple(
        Question(str(item["prompt"]), _mixed(_choices(item), first + number, chance))
        for number, item in enumerate(answer["questions"])
    )


def _choices(item: dict[str, Any]) -> list[Choice]:
    return [
        Choice(str(choice["text"]), str(choice["answer"]), bool(choice["right"]))
        for choice in item["choices"]
    ]


def _mixed(choices: list[Choice], place: int, chance: random.Random) -> tuple[Choice, ...]:
    """The choices shuffled, with the right one at `place` modulo the number of choices."""
    right = [choice for choice in choices if choice.right]
    wrong = [choice for choice in choices if not choice.right]
    chance.shuffle(wrong)
    place %= len(choices)
    return (*wrong[:place], *right, *wrong[place:])


def keep(lesson: str, question: Question, choice: Choice) -> None:
    """Store the last answer in a file; a missed question comes back later (`review`)."""
    if not choice.right:
        schedule.missed(schedule.QUESTIONS, name_of(lesson, question))
    given = remembered.load("quizzes").get(lesson)
    given = dict(given) if isinstance(given, dict) else {}
    given[_key(question)] = [choice.text, choice.right]
    remembered.keep("quizzes", lesson, given)


def kept(lesson: str, question: Question) -> Choice | None:
    """The last answer; None if there is none, or if that choice no longer exists."""
    given = remembered.load("quizzes").get(lesson)
    found = given.get(_key(question)) if isinstance(given, dict) else None
    text = found[0] if isinstance(found, list) and found else None
    return next((choice for choice in question.choices if choice.text == text), None)


def answered(lessons: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """By lesson: how many questions are answered correctly, and how many there are."""
    given = remembered.load("quizzes")
    found = {}
    for lesson, count in lessons.items():
        items = given.get(lesson)
        values = items.values() if isinstance(items, dict) else ()
        right = sum(isinstance(item, list) and item[1:] == [True] for item in values)
        found[lesson] = (min(right, count), count)
    return found


def name_of(lesson: str, question: Question) -> str:
    """The question's name in the list of questions that come back."""
    return f"{lesson}/{_key(question)}"


def _key(question: Question) -> str:
    """A short key that changes when the question is rewritten."""
    return hashlib.sha256(question.prompt.encode()).hexdigest()[:12]


def _said(choice: Choice) -> str:
    """The answer without its leading "Yes", because the verdict before it says that."""
    said = re.sub(r"^Yes\b[.,:;]?\s*", "", choice.answer) if choice.right else choice.answer
    return said[:1].upper() + said[1:]


def verdict_text(choice: Choice) -> str:
    """The verdict on this choice, as text."""
    return f"{'✓ Right.' if choice.right else '✗ Not quite.'} {_said(choice)}".rstrip()


def verdict_html(choice: Choice) -> str:
    """The verdict on this choice, as a small card."""
    state, mark, word = ("passed", "✓", "Right") if choice.right else ("failed", "✗", "Not quite")
    return frame(state, mark, word, "", prose(_said(choice)), word)


def quiz_text(lesson: str, questions: tuple[Question, ...]) -> str:
    """All questions with lettered choices, and how to answer one."""
    lines = [f"Quiz: {lesson}"]
    for number, question in enumerate(questions, start=1):
        lines += ["", f"{number}. {without_fences(question.prompt)}"]
        lines += [
            f"   {letter}) {choice.text}"
            for letter, choice in zip(LETTERS, question.choices, strict=False)
        ]
    lines += ["", f'Answer with quiz("{lesson}", question, "letter"): quiz("{lesson}", 1, "a")']
    return "\n".join(lines)


def quiz_html(lesson: str, questions: tuple[Question, ...]) -> str:
    """The questions for pages without widgets: each choice opens its own answer."""
    parts = []
    for number, question in enumerate(questions, start=1):
        head, rest = head_and_rest(question.prompt)
        parts.append(f"<p><b>{number}.</b> {head}</p>{rest}")
        parts += [
            f"<details><summary>{inline(choice.text)}</summary>"
            f"<p>{inline(verdict_text(choice))}</p></details>"
            for choice in question.choices
        ]
    label = f"Quiz: {lesson}"
    return frame("plain", "?", html.escape(label), "", "".join(parts), label)


def pick(lesson: str, questions: tuple[Question, ...], number: object, letter: object) -> Choice:
    """The choice with this number and letter. Raises NotThere, with a reason, if there is none."""
    numbers = range(1, len(questions) + 1)
    if not isinstance(number, int) or isinstance(number, bool) or number not in numbers:
        raise NotThere(f"the quiz `{lesson}` has the questions 1 to {len(questions)}")
    choices = questions[number - 1].choices
    letters = LETTERS[: len(choices)]
    if not isinstance(letter, str) or len(letter) != 1 or letter.lower() not in letters:
        raise NotThere(f"question {number} has the choices {', '.join(letters)}")
    return choices[letters.index(letter.lower())]


def quiz_widget(lesson: str, questions: tuple[Question, ...]) -> Any:
    """An ipywidgets box: a group of radio buttons for each question, its answer below.

    Arrow keys move within a group; the answer follows the choice. Earlier answers are selected
    at the start.
    """
    import ipywidgets as widgets

    box = widgets.VBox(
        [
            _question_widget(lesson, number, question)
            for number, question in enumerate(questions, start=1)
        ]
    )
    return keeps_its_keys(box.add_class("tw-quiz"))


def labelled(question: Question) -> list[tuple[str, int]]:
    """The choices as radio buttons show them, each with its number.

    The text includes the letter, so that two choices with equal text stay distinct.
    """
    lettered = enumerate(zip(LETTERS, question.choices, strict=False))
    return [(f"{letter})  {choice.text.replace('`', '')}", i) for i, (letter, choice) in lettered]


def _question_widget(lesson: str, number: int, question: Question) -> Any:
    import ipywidgets as widgets

    name = f"Question {number}: {question.prompt.replace('`', '')}"
    head, rest = head_and_rest(question.prompt)
    asked = frame("plain", str(number), head, "", rest, name)
    prompt = widgets.HTML(keys_html(STYLE) + asked)
    buttons = widgets.RadioButtons(
        options=labelled(question),
        value=None,
        tooltip=name,  # screen readers read it as the name of the group
        layout=widgets.Layout(width="auto", margin="0 0 0 1em"),
    )
    answer = widgets.HTML().add_class("tw-live")

    def show(change: dict[str, Any]) -> None:
        chosen = change["new"]
        answer.value = "" if chosen is None else verdict_html(question.choices[chosen])
        if chosen is not None:
            keep(lesson, question, question.choices[chosen])

    before = kept(lesson, question)
    if before is not None:
        buttons.value = question.choices.index(before)
        answer.value = verdict_html(before)
    buttons.observe(show, names="value")
    return widgets.VBox([prompt, buttons, answer])
