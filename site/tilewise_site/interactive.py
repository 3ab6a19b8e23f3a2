"""What a lesson lets one do, as HTML that needs no kernel: explorers, predictions, quizzes.

Nothing is computed in the reader's browser. Every state of an explorer is made here, at build
time, by the same Python functions that the notebook calls; `static/lesson.js` only chooses.
"""

from __future__ import annotations

import html
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triton_util.client.card import head_and_rest, inline
from triton_util.client.predicting import number_text
from triton_util.client.quizzes import LETTERS, Question, verdict_html

MOST_STATES = 6_000
# Where an explorer has more states than a page should carry, these values stand for the rest.
FEWER_VALUES: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "orders": {
        "n_rows": (3, 4, 6, 8, 9),
        "n_cols": (3, 4, 6, 8, 9),
        "group": (1, 2, 3, 4, 6, 8, 9),
        "first": (1, 4, 6, 8, 9, 12, 16, 25, 36),
    },
    # In the notebook this is a field to type in; a page offers the examples of the lesson.
    "conditions": {
        "conditions": ("", "=0", ",>1", ">=1,=0", ">=1,!=1", "!=2", "<2,<2"),
    },
    "roofline": {
        "operations": (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 200, 256, 320, 400),
    },
    "tile_budget": {
        "BLOCK_M": (32, 64, 128, 256),
        "BLOCK_N": (32, 64, 128, 256),
        "BLOCK_K": (16, 32, 64, 128),
        "num_warps": (4, 8),
        "num_stages": (1, 2, 3, 4, 5),
    },
}


@dataclass(frozen=True)
class Control:
    """One slider or list: its values in order, and the place of the one that it starts with."""

    name: str
    label: str
    kind: str  # "range" or "select"
    values: tuple[Any, ...]
    start: int

    def html(self, identity: str) -> str:
        label = html.escape(self.label)
        if self.kind == "select":
            options = "".join(
                f'<option value="{place}"{" selected" if place == self.start else ""}>'
                f"{html.escape(str(value)) or '(empty)'}</option>"
                for place, value in enumerate(self.values)
            )
            field = f'<select id="{identity}">{options}</select>'
            return f'<div class="tw-control"><label for="{identity}">{label}</label>{field}</div>'
        shown = html.escape(str(self.values[self.start]))
        return (
            f'<div class="tw-control"><label for="{identity}">{label}</label>'
            f'<input type="range" id="{identity}" min="0" max="{len(self.values) - 1}" step="1" '
            f'value="{self.start}" aria-valuetext="{shown}">'
            f'<output for="{identity}">{shown}</output></div>'
        )


def controls_of(widgets: Mapping[str, Any], fewer: Mapping[str, tuple[Any, ...]]) -> list[Control]:
    """The controls of a notebook's explorer; `fewer` names the values that a page offers."""
    made = []
    for name, widget in widgets.items():
        if hasattr(widget, "min"):
            kind, every = "range", tuple(range(widget.min, widget.max + 1))
        else:
            kind, every = "select", tuple(getattr(widget, "options", fewer.get(name, ())))
        wanted = set(fewer.get(name, every)) | {widget.value}
        values = tuple(value for value in every if value in wanted)
        made.append(
            Control(name, str(widget.description), kind, values, values.index(widget.value))
        )
    return made


def explorer_html(
    title: str,
    controls: Sequence[Control],
    state: Callable[..., str],
    markup: bool,
    identity: str,
    note: str = "",
) -> str:
    """Controls and what they show, with every state in the page.

    state: from the controls' values by name to plain text, or to HTML where `markup` is true.
    note: a sentence under it.
    Raises ValueError where a page would have to carry more than `MOST_STATES`.
    """
    count = math.prod(len(control.values) for control in controls)
    if count > MOST_STATES:
        raise ValueError(
            f"the explorer {title} has {count:,} states, over {MOST_STATES:,}: "
            "give it FEWER_VALUES in interactive.py"
        )
    names = [control.name for control in controls]
    shown = [
        state(**dict(zip(names, values, strict=True)))
        for values in itertools.product(*(control.values for control in controls))
    ]
    first = 0
    for control in controls:
        first = first * len(control.values) + control.start
    fields = "".join(
        control.html(f"{identity}-{number}") for number, control in enumerate(controls)
    )
    values = [[str(value) for value in control.values] for control in controls]
    data = json.dumps({"values": values, **_packed(shown)}, ensure_ascii=False)
    stage = shown[first] if markup else f"<pre>{html.escape(shown[first])}</pre>"
    said = f'<p class="tw-note">{html.escape(note)}</p>' if note else ""
    return (
        f'<div class="tw-explorer" role="group" aria-label="Explorer: {html.escape(title)}" '
        f'data-markup="{"yes" if markup else "no"}" data-pagefind-ignore>'
        f'<div class="tw-controls">{fields}</div>'
        f'<div class="tw-stage" role="status" aria-live="polite">{stage}</div>{said}'
        f'<script type="application/json">{data.replace("<", chr(92) + "u003c")}</script></div>'
    )


def _packed(states: Sequence[str]) -> dict[str, Any]:
    """States as lists of line numbers: neighbours share most of their lines."""
    lines: dict[str, int] = {}
    texts: dict[tuple[int, ...], int] = {}
    places = []
    for state in states:
        numbers = tuple(lines.setdefault(line, len(lines)) for line in state.split("\n"))
        places.append(texts.setdefault(numbers, len(texts)))
    return {"lines": list(lines), "texts": [list(text) for text in texts], "states": places}


def prediction_html(actual: float, unit: str, name: str, identity: str) -> str:
    """A field for a guess; the answer is told by `lesson.js` once there is one."""
    asked = name.replace("_", " ") or "Your prediction"
    said = not unit or unit in asked
    label = html.escape(asked if said else f"{asked} ({unit})")
    return (
        f'<form class="tw-prediction" data-actual="{float(actual)!r}" '
        f'data-told="{html.escape(number_text(actual), quote=True)}" '
        f'data-unit="{html.escape(unit, quote=True)}" data-pagefind-ignore>'
        '<p class="tw-asked"><span aria-hidden="true">?</span> Your prediction</p>'
        f'<label for="{identity}">{label}</label>'
        f'<input id="{identity}" type="text" inputmode="decimal" autocomplete="off" required>'
        '<button type="submit">Reveal</button>'
        '<div class="tw-told" role="status" aria-live="polite"></div></form>'
    )


def quiz_html(lesson: str, questions: Sequence[Question]) -> str:
    """Radio buttons, one group for each question; each choice has its answer."""
    groups = []
    for number, question in enumerate(questions, start=1):
        name = f"quiz-{lesson}-{number}"
        choices, answers = [], []
        head, rest = head_and_rest(question.prompt)
        for place, choice in enumerate(question.choices):
            identity = f"{name}-{LETTERS[place]}"
            choices.append(
                f'<div class="tw-choice"><input type="radio" name="{name}" id="{identity}" '
                f'value="{place}"><label for="{identity}">{inline(choice.text)}</label></div>'
            )
            answers.append(f"<template>{verdict_html(choice)}</template>")
        groups.append(
            f"<fieldset><legend><b>{number}.</b> {head}</legend>{rest}"
            f"{''.join(choices)}{''.join(answers)}"
            '<div class="tw-answer" role="status" aria-live="polite"></div></fieldset>'
        )
    return f'<form class="tw-asking" data-pagefind-ignore>{"".join(groups)}</form>'
