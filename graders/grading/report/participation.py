"""Counts what a student answered besides the graded cells: predictions, and quizzes in code.

It does not matter whether an answer is correct. Answers that a student clicks in a quiz stay on
the student's machine, so a notebook does not contain them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST = 20_000  # characters of a cell that are read
_COMMENT = re.compile(r"^[ \t]*#.*", re.M)
_PREDICTION = re.compile(
    r"""\bpredict\(\s*["'](?P<name>\w{1,100})["']\s*,\s*(?P<guess>[^\s)]{1,100})"""
)
_QUIZ = re.compile(
    r"""\bquiz\(\s*["'](?P<lesson>\w{1,100})["']\s*,\s*(?P<number>\d{1,3})\s*,\s*["']\w"""
)


@dataclass(frozen=True)
class Participation:
    """The predictions with a guess, how many the lesson asks for, and quiz answers in code."""

    predictions: int = 0
    asked: int = 0
    quiz: int = 0


def asked_in(cells: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the predictions that a lesson asks for."""
    return frozenset(name for name, _ in _predictions(cells))


def participation(cells: Iterable[Mapping[str, Any]], asked: frozenset[str]) -> Participation:
    """Count the answers in a notebook; a prediction that the lesson does not ask for is ignored."""
    known = list(cells)
    guessed = {name for name, guess in _predictions(known) if guess != "None"}
    answers = {(m["lesson"], m["number"]) for text in _code(known) for m in _QUIZ.finditer(text)}
    return Participation(len(guessed & asked), len(asked), len(answers))


def _predictions(cells: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for text in _code(cells):
        for found in _PREDICTION.finditer(text):
            yield found["name"], found["guess"]


def _code(cells: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for cell in cells:
        if cell.get("cell_type") == "code":
            source = cell.get("source", "")
            text = source if isinstance(source, str) else "".join(source)
            yield _COMMENT.sub("", text[:LONGEST])
