"""Logs each mark that changed between two readings of the accounts, with the reason.

Marks change in many places: grading, formgrader, the rules. So the change is not logged where it
happens. Instead the accounts are compared with the previous ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graders.grading.atomic_files import read_json, write_atomically
from graders.grading.ledger.accounts import Account, Given, State

ANOTHER_WORK = "another work was handed in"
BY_HAND = "a person graded it"
JUDGED_AGAIN = "it was judged again: the exercise, a hidden case, a test or the judge changed"
OUTDATED = "another work was handed in; the points by hand were for the one before"
WAITS = "it could not be graded again, and waits for a person"
LATENESS = "the due date, the extension, the late days or the penalty changed"
OTHER_POINTS = "the points before the penalty changed"


@dataclass(frozen=True)
class Change:
    """A mark (or the penalty, if `cell` is "penalty") before and after; None while it is open."""

    time: str
    student: str
    cell: str
    before: float | None
    after: float | None
    reason: str


class ChangeLog:
    """The last reading of an assignment's accounts, and the log of its changes."""

    def __init__(self, course: Path, assignment: str) -> None:
        folder = course / ".tilewise" / "ledger"
        self._known = folder / f"{assignment}.json"
        self.log = folder / f"{assignment}.log.jsonl"

    def note(self, accounts: Iterable[Account], works: Mapping[str, str]) -> None:
        """Log what changed since the last reading. `works` has a digest of each student's work."""
        before = read_json(self._known)
        now = dict(before)
        lines = []
        for account in accounts:
            state = _state(account, works.get(account.work, ""))
            known = before.get(account.student)
            if state == known:
                continue
            now[account.student] = state
            if known:
                lines += list(_changes(account.student, known, state))
        if now == before:
            return
        if lines:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            with open(self.log, "a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(line)) + "\n" for line in lines)
        write_atomically(self._known, now)


def read_changes(course: Path, assignment: str) -> Iterator[Change]:
    """Yield the log of an assignment, the oldest change first; skip damaged lines."""
    try:
        lines = ChangeLog(course, assignment).log.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            yield Change(**json.loads(line))
        except (ValueError, TypeError):
            continue


def _state(account: Account, work: str) -> dict[str, Any]:
    """Return what is stored of an account; {} if nothing was handed in."""
    if account.state is State.NOTHING:
        return {}
    return {
        "work": work,
        "penalty": account.penalty,
        "late": account.lateness.seconds,
        "marks": {mark.cell: [mark.points, str(mark.given)] for mark in account.marks},
    }


def _changes(student: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Change]:
    time = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    another = before["work"] != now["work"]
    for cell, (points, given) in now.get("marks", {}).items():
        old = before["marks"].get(cell, [None, str(Given.NOT_YET)])
        if old[0] != points:
            yield Change(time, student, cell, old[0], points, _reason(points, given, another))
    if before["penalty"] != now.get("penalty"):
        reason = LATENESS if before["late"] != now.get("late") else OTHER_POINTS
        if another:
            reason = ANOTHER_WORK
        yield Change(time, student, "penalty", before["penalty"], now.get("penalty"), reason)


def _reason(points: float | None, given: str, another: bool) -> str:
    if points is None:
        return OUTDATED if given == Given.OUTDATED else ANOTHER_WORK if another else WAITS
    if given == Given.HAND:
        return BY_HAND
    return ANOTHER_WORK if another else JUDGED_AGAIN
