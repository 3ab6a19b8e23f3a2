"""How often and how long students may hand in: rules.toml of a class, which its owner writes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from graders.grading.atomic_files import read_json, write_atomically
from graders.grading.intake.roster import read_roster
from graders.judge.plain_text import quoted
from graders.judge.records import GraderError

FILE = "rules.toml"
EVERY = "*"  # assignment
EXTENSION = {"days", "hours", "attempts"}


@dataclass(frozen=True)
class Rules:
    """Attempts by assignment, and what single students have besides, in the class `course`."""

    attempts: Mapping[str, int] = field(default_factory=dict)
    extensions: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    course: Path | None = field(default=None, compare=False)

    def limit(self, student: str, assignment: str) -> int | None:
        """How many submissions of the student count; None: all."""
        limit = self.attempts.get(assignment, self.attempts.get(EVERY))
        if limit is None:
            return None
        return limit + int(self._extension(student, assignment).get("attempts", 0))

    def more_time(self, student: str, assignment: str) -> timedelta:
        """How much later than the others the student may hand in."""
        extension = self._extension(student, assignment)
        return timedelta(days=extension.get("days", 0), hours=extension.get("hours", 0))

    def _extension(self, student: str, assignment: str) -> Mapping[str, float]:
        own = self.extensions.get(student, {})
        return own.get(assignment, own.get(EVERY, {}))


def read_rules(course: Path) -> Rules:
    """The rules of a class; no limits where there is no file, GraderError where it is wrong."""
    path = course / FILE
    if not path.is_file():
        return Rules(course=course)
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise GraderError(f"{path} cannot be read: {error}") from error
    wrong = _what_is_wrong(found) or _who_is_unknown(course, found)
    if wrong:
        raise GraderError(f"{path}: {wrong}")
    return Rules(found.get("attempts", {}), found.get("extensions", {}), course)


def _who_is_unknown(course: Path, found: Mapping[str, Any]) -> str:
    """The first assignment or student that the class does not have, with the likeliest name."""
    extensions = found.get("extensions", {})
    assignments = {path.name for path in course.glob("source/*") if path.is_dir()}
    students = {student.id for student in read_roster(course).students}
    if students:  # who handed in is known, too
        students |= {path.name for path in course.glob("submitted/*")}
    named = [*found.get("attempts", {}), *(name for own in extensions.values() for name in own)]
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
    unknown = sorted(set(found) - {"attempts", "extensions"})
    if unknown:
        return f"[{unknown[0]}] is unknown: there are [attempts] and [extensions.STUDENT]"
    attempts, extensions = found.get("attempts", {}), found.get("extensions", {})
    if not isinstance(attempts, dict) or not isinstance(extensions, dict):
        return "[attempts] and [extensions.STUDENT] are tables"
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


def grant(rules: Rules, assignment: str, students: Sequence[str], database: str) -> None:
    """Bring the extensions of these students into the gradebook, where penalties read them.

    Only whom the rules name, or named before, is touched: what was granted in another way stays.
    nbgrader cannot add time to a due date that is not set, so it is given once there is one.
    """
    place = (rules.course or Path()) / ".tilewise" / "extensions" / f"{assignment}.json"
    before = read_json(place) if rules.course is not None else {}
    named = [student for student in students if student in {*rules.extensions, *before}]
    if not named:
        return
    from nbgrader.api import Gradebook  # slow to import

    given = dict(before)
    with Gradebook(database) as gradebook:
        for student in named:
            gradebook.update_or_create_student(student)
            submission = gradebook.update_or_create_submission(assignment, student)
            dated = submission.assignment.duedate is not None
            wanted = (dated and rules.more_time(student, assignment)) or None
            ours = timedelta(seconds=given.pop(student, 0)) or None
            if student not in rules.extensions and submission.extension != ours:
                continue  # somebody has changed it since
            if submission.extension != wanted:
                submission.extension = wanted
            if wanted is not None:
                given[student] = wanted.total_seconds()
        gradebook.db.commit()
    if rules.course is not None and given != before:
        write_atomically(place, given)


class Attempts:
    """Which submissions came, in their order: who takes one back has still had the attempt."""

    def __init__(self, course: Path, assignment: str) -> None:
        self.path = course / ".tilewise" / "attempts" / f"{assignment}.json"

    def see(self, student: str, names: list[str]) -> list[str]:
        """All submissions of the student that ever came, the ones of before first."""
        known = read_json(self.path)
        before = [str(name) for name in known.get(student, [])]
        fresh = [name for name in names if name not in before]
        if fresh:
            write_atomically(self.path, known | {student: [*before, *fresh]})
        return [*before, *fresh]
