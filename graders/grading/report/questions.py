"""Summarises each grade cell for a class: points, their distribution, and mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from graders.authoring.grade_cells import HIDDEN_CASE, hidden_id, public_id
from graders.grading.ledger.accounts import Account, Mark

BANDS = 5  # of the points that a cell has: 0 to 20 %, and so on
MOST_MISTAKES = 5  # shown for one question
_Work = tuple[Account, Mapping[str, Mapping[str, Any]]]  # with the judge's reports by exercise


@dataclass(frozen=True)
class Mistake:
    """One of the judge's findings, and how many students have it."""

    code: str
    title: str
    students: int


@dataclass(frozen=True)
class GradedQuestion:
    """One grade cell. `bands` counts students by fifths of its points; the last has full marks."""

    cell: str
    max_points: float
    points: tuple[float, ...]  # in ascending order, of the students with a grade
    open: int
    mistakes: tuple[Mistake, ...]

    @property
    def median(self) -> float | None:
        return median(self.points) if self.points else None

    @property
    def mean(self) -> float | None:
        return round(mean(self.points), 2) if self.points else None

    @property
    def bands(self) -> tuple[int, ...]:
        counts = Counter(self._band(points) for points in self.points)
        return tuple(counts[band] for band in range(BANDS))

    @property
    def full(self) -> int:
        """Return how many students have full marks."""
        return sum(points >= self.max_points for points in self.points)

    def _band(self, points: float) -> int:
        share = points / self.max_points if self.max_points else 1.0
        return min(BANDS - 1, int(share * BANDS))


def questions_of(works: Sequence[_Work]) -> list[GradedQuestion]:
    """Return the grade cells of an assignment, sorted by name."""
    marks: dict[str, list[Mark]] = {}
    for account, _ in works:
        for mark in account.marks:
            marks.setdefault(mark.cell, []).append(mark)
    return [_question(cell, found, works) for cell, found in sorted(marks.items())]


def _question(cell: str, marks: Sequence[Mark], works: Sequence[_Work]) -> GradedQuestion:
    points = sorted(mark.points for mark in marks if mark.points is not None)
    waiting = sum(mark.points is None for mark in marks)
    return GradedQuestion(cell, marks[0].max_points, tuple(points), waiting, _mistakes(cell, works))


def _mistakes(cell: str, works: Sequence[_Work]) -> tuple[Mistake, ...]:
    """Return the judge's findings for the cell; an exercise's two cells each get their own."""
    counts: Counter[str] = Counter()
    titles: dict[str, str] = {}
    for _, reports in works:
        for exercise, report in reports.items():
            if report["points"] is None or cell not in (public_id(exercise), hidden_id(exercise)):
                continue
            found = [f for f in report["findings"] if _is_of(f, cell == hidden_id(exercise))]
            titles |= {finding["code"]: finding["title"] for finding in found}
            counts.update({finding["code"] for finding in found})
    return tuple(Mistake(c, titles[c], n) for c, n in counts.most_common(MOST_MISTAKES))


def _is_of(finding: Mapping[str, Any], hidden: bool) -> bool:
    return str(finding.get("case") or "").startswith(HIDDEN_CASE) == hidden
