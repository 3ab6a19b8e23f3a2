"""Reads a class's rules.toml: when work is due, and how often it may be handed in."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from graders.authoring.refusal import refusal
from graders.grading.atomic_files import read_json, write_atomically
from graders.grading.intake.roster import read_roster
from graders.judge.plain_text import quoted

FILE = "rules.toml"
EVERY = "*"  # assignment
EXTENSION = {"days", "hours", "attempts"}
TABLES = {"attempts", "extensions", "due", "late"}


@dataclass(frozen=True)
class Late:
    """The penalty for lateness: percent of the points per day begun, up to `most` percent.

    `free_days` is how many late days each student has without penalty, over the whole term.
    """

    per_day: float = 0
    most: float = 100
    free_days: int = 0


@dataclass(frozen=True)
class Rules:
    """Attempts by assignment, and exceptions for single students, in the class `course`."""

    attempts: Mapping[str, int] = field(default_factory=dict)
    extensions: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    due: Mapping[str, datetime] = field(default_factory=dict)  # in UTC, as nbgrader has it
    late: Late = Late()
    course: Path | None = field(default=None, compare=False)

    def limit(self, student: str, assignment: str) -> int | None:
        """Return how many submissions of the student count; None if all do."""
        limit = self.attempts.get(assignment, self.attempts.get(EVERY))
        if limit is None:
            return None
        return limit + int(self._extension(student, assignment).get("attempts", 0))

    def more_time(self, student: str, assignment: str) -> timedelta:
        """Return how much later than the others the student may hand in."""
        extension = self._extension(student, assignment)
        return timedelta(days=extension.get("days", 0), hours=extension.get("hours", 0))

    def _extension(self, student: str, assignment: str) -> Mapping[str, float]:
        own = self.extensions.get(student, {})
        return own.get(assignment, own.get(EVERY, {}))


def read_rules(course: Path) -> Rules:
    """Return the rules of a class: no limits without a file, GraderError if it has errors."""
    path = course / FILE
    if not path.is_file():
        return Rules(course=course)
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise refusal(f"{path} cannot be read: {error}") from error
    wrong = _what_is_wrong(found) or _who_is_unknown(course, found)
    if wrong:
        raise refusal(f"{path}: {wrong}")
    due = {name: _utc(time) for name, time in found.get("due", {}).items()}
    late = Late(**found.get("late", {}))
    return Rules(found.get("attempts", {}), found.get("extensions", {}), due, late, course)


def _utc(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(tzinfo=None)


def _who_is_unknown(course: Path, found: Mapping[str, Any]) -> str:
    """Return the first unknown assignment or student in the rules, with the likeliest name."""
    extensions = found.get("extensions", {})
    assignments = {path.name for path in course.glob("source/*") if path.is_dir()}
    students = {student.id for student in read_roster(course).students}
    if students:  # students who handed in are known, too
        students |= {path.name for path in course.glob("submitted/*")}
    named = [*found.get("attempts", {}), *found.get("due", {})]
    named += [name for own in extensions.values() for name in own]
    for kind, names, known in (
        ("assignment", named, assignments),
        ("student", extensions, students),
    ):
        for name in names:
            if known and name not in known and name != EVERY:
                close = get_close_matches(name, known, 1)
                guess = f"did you mean {quoted(close[0])}?" if close else "see the spelling"
                return f"the class has no {kind} {quoted(name)}: {guess}"
    return ""


def _what_is_wrong(found: Mapping[str, Any]) -> str:
    unknown = sorted(set(found) - TABLES)
    if unknown:
        return (
            f"[{unknown[0]}] is unknown: there are [attempts], [due], [late] and "
            "[extensions.STUDENT]"
        )
    attempts, extensions = found.get("attempts", {}), found.get("extensions", {})
    if not all(isinstance(found.get(name, {}), dict) for name in TABLES):
        return "[attempts], [due], [late] and [extensions.STUDENT] are tables"
    if wrong := _what_is_wrong_with_dates(found.get("due", {}), found.get("late", {})):
        return wrong
    for assignment, count in attempts.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            return f"attempts of {assignment} must be a number from 1"
    for student, own in extensions.items():
        for assignment, extension in own.items() if isinstance(own, dict) else [("", None)]:
            if not isinstance(extension, dict) or not set(extension) <= EXTENSION:
                return (
                    f"an extension of {student} is written as "
                    "ASSIGNMENT = {days = 2, hours = 0, attempts = 1}"
                )
            if not all(isinstance(n, int | float) and n >= 0 for n in extension.values()):
                return f"the extension of {student} for {assignment} has a number below 0"
    return ""


def _what_is_wrong_with_dates(due: Mapping[str, Any], late: Mapping[str, Any]) -> str:
    for assignment, time in due.items():
        if not isinstance(time, datetime) or time.tzinfo is None:
            return (
                f"the due date of {assignment} is a time with its time zone, without quotes: "
                "2026-03-02T12:00:00+01:00, or Z for UTC"
            )
    if unknown := sorted(set(late) - {"per_day", "most", "free_days"}):
        return f"[late] has no {unknown[0]}: there are per_day, most (percent) and free_days"
    for name, number in late.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or number < 0:
            return f"{name} of [late] must be a number from 0"
        if name == "free_days" and not isinstance(number, int):
            return "free_days of [late] are whole days"
        if name != "free_days" and number > 100:
            return f"{name} of [late] is percent of the points: at most 100"
    return ""


def _place(course: Path, assignment: str) -> Path:
    return course / ".tilewise" / "extensions" / f"{assignment}.json"


def granted(course: Path | None, assignment: str) -> dict[str, timedelta]:
    """Return the extensions that the rules have written into the gradebook."""
    known = read_json(_place(course, assignment)) if course is not None else {}
    return {student: timedelta(seconds=seconds) for student, seconds in known.items()}


def grant(rules: Rules, assignment: str, students: Sequence[str], database: str) -> None:
    """Write due date and extensions into the gradebook, where nbgrader reads them.

    Changes only the students whom the rules name or named before; other extensions stay.
    nbgrader cannot extend a missing due date, so extensions wait until there is one.
    """
    before = granted(rules.course, assignment)
    named = [student for student in students if student in {*rules.extensions, *before}]
    if not named and assignment not in rules.due:
        return
    from nbgrader.api import Gradebook  # slow to import

    given = dict(before)
    with Gradebook(database) as gradebook:
        known = gradebook.find_assignment(assignment)
        known.duedate = rules.due.get(assignment, known.duedate)
        for student in named:
            gradebook.update_or_create_student(student)
            submission = gradebook.update_or_create_submission(assignment, student)
            dated = submission.assignment.duedate is not None
            wanted = (dated and rules.more_time(student, assignment)) or None
            ours = given.pop(student, None)
            if student not in rules.extensions and submission.extension != ours:
                continue  # it was changed by hand since
            if submission.extension != wanted:
                submission.extension = wanted
            if wanted is not None:
                given[student] = wanted
        gradebook.db.commit()
    if rules.course is not None and given != before:
        seconds = {student: extension.total_seconds() for student, extension in given.items()}
        write_atomically(_place(rules.course, assignment), seconds)


class Attempts:
    """The submissions that came, in order. A submission that is withdrawn still counts."""

    def __init__(self, course: Path, assignment: str) -> None:
        self.path = course / ".tilewise" / "attempts" / f"{assignment}.json"

    def see(self, student: str, names: list[str]) -> list[str]:
        """Add `names`, and return all submissions of the student, the earliest first."""
        known = read_json(self.path)
        before = [str(name) for name in known.get(student, [])]
        fresh = [name for name in names if name not in before]
        if fresh:
            write_atomically(self.path, known | {student: [*before, *fresh]})
        return [*before, *fresh]

    def told(self, student: str, limit: int | None) -> str:
        """Return a sentence with the number of attempts that the student has left.

        "" if there is no limit, or if the work did not come through the exchange: only that counts.
        """
        count = len(read_json(self.path).get(student, []))
        if limit is None or not count:
            return ""
        left = max(0, limit - count)
        return f"Attempts: {min(count, limit)} of {limit} used, {left} left."
