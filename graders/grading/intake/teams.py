"""Reads the teams of a class: one submission of a team counts for each of its members."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graders.authoring.refusal import refusal
from graders.grading.intake.roster import Roster
from graders.judge.plain_text import quoted

FILE = "teams.csv"
EVERY = "*"  # assignment
_COLUMNS = ("student", "team")


@dataclass(frozen=True)
class Teams:
    """The team names, by assignment (or "*") and student."""

    named: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def members(self, student: str, assignment: str) -> tuple[str, ...]:
        """Return all members of the student's team; only the student if there is no team."""
        teams = self.named.get(assignment, self.named.get(EVERY, {}))
        team = teams.get(student)
        if not team:
            return (student,)
        return tuple(sorted(one for one, name in teams.items() if name == team))


def read_teams(course: Path, roster: Roster) -> Teams:
    """Return the teams of a class, from the roster's column `team` and from teams.csv.

    For an assignment that teams.csv names, only its teams count.
    """
    named = {student.id: student.team for student in roster.students if student.team}
    found: dict[str, dict[str, str]] = {EVERY: named} if named else {}
    path = course / FILE
    if not path.is_file():
        return Teams(found)
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows, head = list(reader), reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise refusal(f"{path} cannot be read: {error}") from error
    if missing := [name for name in _COLUMNS if name not in head]:
        raise refusal(f"{path}: its first line must name the columns; {missing[0]} is missing")
    written: dict[str, dict[str, str]] = {}
    for row in rows:
        student, team = (str(row.get(name) or "").strip() for name in _COLUMNS)
        assignment = str(row.get("assignment") or "").strip() or EVERY
        if not student and not team:
            continue
        _check(path, student, team, written.setdefault(assignment, {}), roster)
        written[assignment][student] = team
    return Teams(found | written)


def _check(path: Path, student: str, team: str, known: Mapping[str, str], roster: Roster) -> None:
    if roster and not roster.by("id", student):
        raise refusal(f"{path}: {quoted(student)} is no id of the roster")
    if student in known and known[student] != team:
        raise refusal(f"{path}: {quoted(student)} is in two teams of one assignment")
