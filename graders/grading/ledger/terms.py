"""The terms of a class: its teams, due dates, and penalties for lateness."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from graders.grading.intake.roster import Roster, read_roster
from graders.grading.intake.rules import Rules, granted, read_rules
from graders.grading.intake.teams import Teams, read_teams

DAY = timedelta(days=1)


@dataclass(frozen=True)
class HandedIn:
    """When one student handed in one assignment. `time` is None if it is unknown."""

    student: str
    assignment: str
    time: datetime | None
    due: datetime | None
    extension: timedelta = timedelta()


@dataclass(frozen=True)
class ClassTerms:
    """The roster, teams and rules of the class in `course`, and nbgrader's lateness settings."""

    course: Path
    roster: Roster
    rules: Rules
    teams: Teams
    config: Any = field(repr=False, default=None)
    parent: Any = field(repr=False, default=None)  # nbgrader's, whose options count as well
    _granted: dict[str, dict[str, timedelta]] = field(repr=False, default_factory=dict)

    def penalty(self, student: str, points: float, seconds_late: float) -> float:
        """Return the penalty for lateness, by the rules, else by nbgrader's plugin."""
        if seconds_late <= 0:
            return 0.0
        late = self.rules.late
        if late.per_day:
            percent = min(late.most, late.per_day * math.ceil(seconds_late / DAY.total_seconds()))
            return points * percent / 100
        return min(max(0.0, self._by_nbgrader(student, points, seconds_late)), points)

    def _by_nbgrader(self, student: str, points: float, seconds_late: float) -> float:
        from nbgrader.preprocessors import AssignLatePenalties  # slow to import

        late = AssignLatePenalties(parent=self.parent, config=self.config)
        late.init_plugin()
        found = late.plugin_inst.late_submission_penalty(student, points, seconds_late)
        return float(found or 0.0)

    def extension(self, student: str, assignment: str, in_gradebook: timedelta | None) -> timedelta:
        """Return the student's extension: from the rules, else the one given in formgrader.

        An extension that the rules once granted and no longer contain does not count.
        """
        if student in self.rules.extensions:
            return self.rules.more_time(student, assignment)
        if assignment not in self._granted:
            self._granted[assignment] = granted(self.rules.course, assignment)
        ours = self._granted[assignment].get(student)
        if in_gradebook is None or in_gradebook == ours:
            return timedelta()
        return in_gradebook

    def free_days(self, works: Iterable[HandedIn]) -> Mapping[str, int]:
        """Return how many late days each assignment uses, in the order of the due dates.

        `works` are the works that count for that student.
        """
        left = self.rules.late.free_days
        used: dict[str, int] = {}
        dated = [work for work in works if work.due is not None and work.time is not None]
        for work in sorted(dated, key=lambda work: (work.due, work.assignment)):
            assert work.due is not None
            assert work.time is not None
            late = (work.time - work.due - work.extension) / DAY
            used[work.assignment] = min(left, max(0, math.ceil(late)))
            left -= used[work.assignment]
        return used


def terms_of(course: Path, config: Any = None, parent: Any = None) -> ClassTerms:
    """Read the terms from the files of a class; GraderError if one of them has an error."""
    roster = read_roster(course)
    return ClassTerms(
        course, roster, read_rules(course), read_teams(course, roster), config, parent
    )


def counting(works: Sequence[HandedIn]) -> HandedIn | None:
    """Return the work of a team that counts, which is the last one; None without works."""
    known = datetime.min.replace(tzinfo=UTC)

    def when(work: HandedIn) -> tuple[datetime, str]:
        time = work.time.replace(tzinfo=UTC) if work.time is not None else known
        return time, work.student

    return max(works, key=when, default=None)
