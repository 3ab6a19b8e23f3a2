"""Reads the roster of a class, which maps the names and numbers of an LMS to students.

We identify a student by the roster's `id`, because the number of an LMS may change from one
assignment to the next.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from graders.authoring.class_folder import ROSTER
from graders.authoring.refusal import refusal
from graders.judge.plain_text import quoted

STUDENT = re.compile(r"[\w.@-]{1,100}\Z")  # it is also a folder name


@dataclass(frozen=True)
class Enrolled:
    """One line of the roster. The first five columns are nbgrader's; the others are optional.

    `name` is the platform's name for the student, if it is not first name plus last name.
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""
    canvas_id: str = ""
    canvas_user_id: str = ""
    user_id: str = ""
    sid: str = ""
    name: str = ""
    team: str = ""

    @property
    def names(self) -> set[str]:
        """Return the student's possible names: first name first, and last name first."""
        both = (self.first_name + self.last_name, self.last_name + self.first_name, self.name)
        return {key for name in both if (key := folded(name))}

    def has_incomplete_name_in(self, key: str) -> bool:
        """Whether the roster knows only one part of the name, and the folded `key` has it.

        `key` begins or ends with the part. A student without any name fits no key.
        """
        part = folded(self.first_name or self.last_name)
        known = self.name or (self.first_name and self.last_name)
        return bool(part) and not known and (key.startswith(part) or key.endswith(part))

    @property
    def canvas_numbers(self) -> set[str]:
        """Return the numbers that Canvas may use for the student."""
        return {self.lms_user_id, self.canvas_id, self.canvas_user_id, self.user_id} - {""}

    @property
    def gradescope_ids(self) -> set[str]:
        """Return the values that Gradescope may use as the student's SID."""
        return {self.sid} if self.sid else {self.id, self.lms_user_id} - {""}

    @property
    def called(self) -> str:
        """Return the student's name for messages."""
        name = f"{self.first_name} {self.last_name}".strip() or self.name
        return f"{name} ({self.id})" if name else self.id

    def may_be_called(self, name: str) -> bool:
        """Whether this name shares a part with the student's; true if either is empty."""
        key = folded(name)
        said = re.split(r"[\W_]+", f"{self.first_name} {self.last_name} {self.name}")
        parts = {part for word in said if len(part := folded(word)) > 1 or not part.isascii()}
        parts |= self.names
        return not key or not parts or any(part in key for part in parts)


def folded(name: str) -> str:
    """Return a name without case, accents, blanks and signs, as an LMS writes it in files."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return "".join(letter for letter in plain if letter.isalnum())


class Roster:
    """The students of a class; falsy if it is empty."""

    def __init__(self, students: Iterable[Enrolled] = ()) -> None:
        self.students = tuple(students)
        self._by: dict[tuple[str, str], set[Enrolled]] = {}
        for student in self.students:
            self._add("id", {student.id}, student)
            self._add("canvas", student.canvas_numbers, student)
            self._add("gradescope", student.gradescope_ids, student)
            self._add("email", {student.email.casefold()}, student)
            self._add("name", student.names, student)

    def _add(self, kind: str, keys: Iterable[str], student: Enrolled) -> None:
        for key in filter(None, keys):
            self._by.setdefault((kind, key), set()).add(student)

    def __len__(self) -> int:
        return len(self.students)

    def by(self, kind: str, text: str) -> set[Enrolled]:
        """Return the students whose `kind` ("id", "email", "name", "canvas", …) is `text`.

        If a student has that name, so may another of whose name the roster knows only a part.
        """
        text = unicodedata.normalize("NFC", text.strip())
        if kind == "name":
            text = folded(text)
        elif kind == "email":
            text = text.casefold()
        found = set(self._by.get((kind, text), ()))
        if kind == "name" and found:
            found |= {other for other in self.students if other.has_incomplete_name_in(text)}
        return found


def read_roster(course: Path) -> Roster:
    """Return the roster of the class in that folder; empty if there is none."""
    path = course / ROSTER
    if not path.is_file():
        return Roster()
    known = {field.name for field in fields(Enrolled)}
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [
                {key: _tidy(value) for key, value in row.items() if key in known} for row in reader
            ]
            head = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise refusal(f"{path} cannot be read: {error}") from error
    if "id" not in head:
        raise refusal(f"{path}: its first line must name the columns; `id` is missing")
    students = [Enrolled(**row) for row in rows if any(row.values())]
    _check(path, students)
    return Roster(students)


def _tidy(value: str | None) -> str:
    return unicodedata.normalize("NFC", (value or "").strip())


def _check(path: Path, students: Sequence[Enrolled]) -> None:
    seen: set[str] = set()
    for student in students:
        if not STUDENT.match(student.id) or student.id in (".", ".."):
            raise refusal(
                f"{path}: {quoted(student.id)} is no id of a student: letters, digits and . _ @ -"
            )
        if student.id in seen:
            raise refusal(f"{path}: the id {student.id} stands there twice")
        seen.add(student.id)


def enter(roster: Roster, database: str) -> None:
    """Copy names, addresses and LMS numbers from the roster into the gradebook.

    Fields that are empty in the roster stay as they are.
    """
    if not roster:
        return
    from nbgrader.api import Gradebook, Student  # slow to import

    with Gradebook(database) as gradebook:
        known = {student.id: student for student in gradebook.db.query(Student)}
        for enrolled in roster.students:
            student = known.get(enrolled.id)
            if student is None:
                student = Student(id=enrolled.id)
                gradebook.db.add(student)
            for name in ("first_name", "last_name", "email", "lms_user_id"):
                said = getattr(enrolled, name)
                if said and getattr(student, name) != said:
                    setattr(student, name, said)
        gradebook.db.commit()
