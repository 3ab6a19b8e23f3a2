"""The terms of a class: who works together, when work is due, and what being late costs."""

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
    """When one student handed in one assignment. `time` is None where nobody knows it."""

    student: str
    assignment: str
    time: datetime | None
    due: datetime | None
    extension: timedelta = timedelta()


@dataclass(frozen=True)
class ClassTerms:
    """Roster, teams and rules of the class in `course`, and nbgrader's settings for lateness."""

    course: Path
    roster: Roster
    rules: Rules
    teams: Teams
    config: Any = field(repr=False, default=None)
    parent: Any = field(repr=False, default=None)  # nbgrader's, whose options count as well
    _granted: dict[str, dict[str, timedelta]] = field(repr=False, default_factory=dict)

    def penalty(self, student: str, points: float, seconds_late: float) -> float:
        """What lateness costs of these points: by the rules, else by nbgrader's plugin."""
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
        """The student's extension: what the rules say, else what somebody gave in formgrader.

        What the rules had granted and no longer say does not count.
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
        """How many late days of a student each assignment takes: those due first come first.

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
    """The terms that the files of a class say now; a GraderError where one of them is wrong."""
    roster = read_roster(course)
    return ClassTerms(
        course, roster, read_rules(course), read_teams(course, roster), config, parent
    )


def counting(works: Sequence[HandedIn]) -> HandedIn | None:
    """Of the works of a team the one that counts: the last one; None where there is none."""
    known = datetime.min.replace(tzinfo=UTC)

    def when(work: HandedIn) -> tuple[datetime, str]:
        time = work.time.replace(tzinfo=UTC) if work.time is not None else known
        return time, work.student

    return max(works, key=when, default=None)
