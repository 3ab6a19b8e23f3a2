"""The account of a student: points, open marks, and the penalty, from gradebook and rules.

Every total in the report, the tables, the feedback and nbgrader's pages comes from an account.
An account depends only on the current gradebook and rules. The order in which a submission was
graded, extended or graded by hand makes no difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

DIGITS = 2  # of every total: rounded here, so that no output has to round


class Given(StrEnum):
    """Who gave the points of a cell, if it has any."""

    JUDGE = "judge"
    HAND = "hand"
    NOT_YET = "not yet"
    OUTDATED = "outdated"  # a person did, and the student has handed in other work since


class State(StrEnum):
    """Whether an account has a score."""

    GRADED = "graded"
    OPEN = "open"
    NOTHING = "nothing handed in"


@dataclass(frozen=True)
class Mark:
    """The points of one grade cell. `points` is None while a person has to grade it."""

    cell: str
    notebook: str
    points: float | None
    max_points: float
    given: Given


@dataclass(frozen=True)
class Lateness:
    """How late a work came, after the student's extension, and how many late days it took."""

    due: datetime | None = None
    handed_in: datetime | None = None
    extension: timedelta = timedelta()
    free_days: int = 0

    @property
    def seconds(self) -> float:
        """Return the lateness in seconds on which the penalty is computed."""
        if self.due is None or self.handed_in is None:
            return 0.0
        allowed = self.extension + timedelta(days=self.free_days)
        return max(0.0, (self.handed_in - self.due - allowed).total_seconds())


@dataclass(frozen=True)
class Account:
    """One student and one assignment. `work` is the student whose submission counts, or ""."""

    student: str
    name: str
    assignment: str
    work: str
    marks: tuple[Mark, ...]
    lateness: Lateness
    penalties: Mapping[str, float]  # by notebook, on the points so far
    on_roster: bool = True
    handed_in: bool = True
    reason: str = ""  # why the judge could not grade it, or ""
    remark: str = ""  # which of several hand-ins the points are for, if that may surprise

    @property
    def reached(self) -> float:
        """Return the points so far, before the penalty."""
        return total(mark.points or 0.0 for mark in self.marks)

    @property
    def penalty(self) -> float:
        """Return the penalty for lateness, in points."""
        return total(self.penalties.values())

    @property
    def max_score(self) -> float:
        return total(mark.max_points for mark in self.marks)

    @property
    def open(self) -> tuple[Mark, ...]:
        """Return the marks that a person has to give."""
        return tuple(mark for mark in self.marks if mark.points is None)

    @property
    def state(self) -> State:
        if not self.handed_in:
            return State.NOTHING
        return State.OPEN if self.open else State.GRADED

    @property
    def so_far(self) -> float:
        """Return the points so far, minus the penalty."""
        return round(max(0.0, self.reached - self.penalty), DIGITS)

    @property
    def score(self) -> float | None:
        """Return the total; None if a mark is open or nothing was handed in."""
        return self.so_far if self.state is State.GRADED else None

    @property
    def waits_for(self) -> str:
        """Return what a person has to grade, and what has to be graded again."""
        fresh = [mark.cell for mark in self.open if mark.given is Given.NOT_YET]
        again = [mark.cell for mark in self.open if mark.given is Given.OUTDATED]
        said = [f"not graded yet: {', '.join(fresh)}"] if fresh else []
        if again:
            said.append(f"graded by hand before another work was handed in: {', '.join(again)}")
        return "; ".join(said)

    def mark(self, cell: str, notebook: str) -> Mark | None:
        """Return the mark of the cell with nbgrader's name `cell`."""
        known = (mark for mark in self.marks if (mark.cell, mark.notebook) == (cell, notebook))
        return next(known, None)


def total(points: Iterable[float]) -> float:
    """Return the sum of some points, rounded to remove floating-point error."""
    return round(math.fsum(points), DIGITS)


def told(points: float | None) -> str:
    """Return points as text for every table; "" if there are none yet."""
    return "" if points is None else f"{round(points, DIGITS):.10g}"


def mark_of(grade: Any, notebook: str) -> Mark:
    """Return the mark of one cell from its row in the gradebook.

    nbgrader asks for a person if a cell with points by hand is graded again. `SaveGrades`
    keeps that request only if the student handed in other work.
    """
    cell, most = str(grade.cell.name), float(grade.cell.max_score)
    by_hand = grade.manual_score is not None
    if grade.needs_manual_grade or (not by_hand and grade.auto_score is None):
        return Mark(cell, notebook, None, most, Given.OUTDATED if by_hand else Given.NOT_YET)
    score = grade.manual_score if by_hand else grade.auto_score
    points = total([score, grade.extra_credit or 0.0])
    return Mark(cell, notebook, points, most, Given.HAND if by_hand else Given.JUDGE)


def points_by_notebook(marks: Iterable[Mark]) -> Mapping[str, float]:
    """Return the points so far by notebook, because nbgrader's penalties use these."""
    found: dict[str, list[float]] = {}
    for mark in marks:
        found.setdefault(mark.notebook, []).append(mark.points or 0.0)
    return {notebook: total(points) for notebook, points in found.items()}
