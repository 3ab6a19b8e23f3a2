"""Predictions: what learners are asked to guess, and the facts.

They are in graders/course/<slug>/predictions.py, because the lesson asks the question and must not
show the answer on the same page. Model answers of case studies are in the lessons; the build
collects them in one file for learners, who have no lessons folder.
"""

from __future__ import annotations

import difflib
import importlib
import json
from dataclasses import dataclass
from functools import cache

from graders.judge.discovery import COURSE, GENERATED
from graders.judge.records import GraderError

MODEL_ANSWERS = GENERATED / "model_answers.json"


@dataclass(frozen=True)
class Prediction:
    """The fact to guess, in `unit`; `because` explains it in a sentence or two.

    quantity: whether "off by a factor" makes sense. For the number of a row it does not. within:
    the factor within which a guess is correct, such as 1.1. Without it, a whole number must be
    guessed exactly and any other number to 2 %.
    """

    answer: float
    unit: str = ""
    because: str = ""
    quantity: bool = True
    within: float | None = None


@cache
def predictions() -> dict[str, Prediction]:
    """All predictions by their ids."""
    found: dict[str, Prediction] = {}
    for path in sorted(COURSE.glob("*/predictions.py")):
        module = importlib.import_module(f"graders.course.{path.parent.name}.predictions")
        of_lesson = module.PREDICTIONS
        for twice in found.keys() & of_lesson.keys():
            raise GraderError(f"two predictions are called {twice!r}: rename one of them")
        found.update(of_lesson)
    return found


def prediction(name: str) -> Prediction:
    """The prediction of that id. Otherwise raises a KeyError whose text names the nearest one."""
    if name not in predictions():
        raise KeyError(_unknown("prediction", name, list(predictions())))
    return predictions()[name]


def model_answer(case_study: str) -> str:
    """The model answer and the rubric of a case study, in Markdown."""
    known: dict[str, str] = json.loads(MODEL_ANSWERS.read_text(encoding="utf-8"))
    if case_study not in known:
        raise KeyError(_unknown("case study", case_study, list(known)))
    return known[case_study]


def _unknown(kind: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    return f"There is no {kind} {name!r}.{guess}"
