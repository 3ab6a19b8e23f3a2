"""The two grade cells of an exercise: their nbgrader ids, and what each is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it imports torch
    from graders.judge.records import Exercise

HIDDEN_CASE = "a hidden case"  # the name of each of them in a report
PUBLIC_SHARE = 0.4  # of an exercise's points; the hidden cases have the rest


def public_points(exercise: Exercise) -> int:
    """The points of the cell with the public cases, at least 1."""
    return max(1, round(exercise.max_points * PUBLIC_SHARE))


def hidden_points(exercise: Exercise) -> int:
    """The points of the cell with the hidden cases."""
    return exercise.max_points - public_points(exercise)


def public_id(exercise: str) -> str:
    """The nbgrader id of the cell that the public cases decide."""
    return f"{exercise}-public"


def hidden_id(exercise: str) -> str:
    """The nbgrader id of the cell that the hidden cases decide."""
    return f"{exercise}-hidden"
