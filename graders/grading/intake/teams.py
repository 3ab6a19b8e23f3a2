"""Reads the teams of a class: one submission of a team counts for each of its members."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graders.authoring.refusal import refusal
from graders.grading.atomic_files import read_json, write_atomically
from graders.grading.intake.roster import Roster, folded
from graders.judge.plain_text import quoted

FILE = "teams.csv"
GROUPS = Path(".tilewise") / "teams"  # in the course folder: the groups of platforms
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

    def called(self, name: str, assignment: str) -> tuple[str, ...]:
        """Return the members of the team with that name, as a platform writes it in files."""
        teams = self.named.get(assignment, self.named.get(EVERY, {}))
        key = folded(name)
        return tuple(sorted(one for one, team in teams.items() if key and folded(team) == key))


def read_teams(course: Path, roster: Roster) -> Teams:
    """Return the teams of a class, from the roster's column `team`, teams.csv and platforms.

    For an assignment that teams.csv names, only its teams count. Otherwise, a student who handed
    in with a group of a platform is in that group.
    """
    written = instructors_teams(course, roster).named
    every = written.get(EVERY, {})
    groups = {path.stem: read_json(path) for path in sorted((course / GROUPS).glob("*.json"))}
    merged = {assignment: {**every, **found} for assignment, found in groups.items() if found}
    return Teams(merged | dict(written))


def instructors_teams(course: Path, roster: Roster) -> Teams:
    """Return the teams that the instructor wrote, into the roster or teams.csv."""
    named = {student.id: student.team for student in roster.students if student.team}
    return Teams(({EVERY: named} if named else {}) | _written(course, roster))


def note_groups(course: Path, assignment: str, lms: str, groups: Mapping[str, str]) -> None:
    """Store the group with which each student handed in on a platform; "" for none.

    Whoever was in one of these groups before, and is not now, has left it.
    """
    path = course / GROUPS / f"{assignment}.json"
    known = read_json(path)
    found = {one: f"{lms} {group}" for one, group in groups.items() if group}
    others = {one: group for one, group in known.items() if one not in groups}
    now = {one: group for one, group in others.items() if group not in found.values()} | found
    if now != known:
        write_atomically(path, now)


def _written(course: Path, roster: Roster) -> dict[str, dict[str, str]]:
    """Return the teams in teams.csv, by assignment."""
    path = course / FILE
    if not path.is_file():
        return {}
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
    return written


def _check(path: Path, student: str, team: str, known: Mapping[str, str], roster: Roster) -> None:
    if roster and not roster.by("id", student):
        raise refusal(f"{path}: {quoted(student)} is no id of the roster")
    if student in known and known[student] != team:
        raise refusal(f"{path}: {quoted(student)} is in two teams of one assignment")
