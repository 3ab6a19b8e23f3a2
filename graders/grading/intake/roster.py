"""Who is in the class: the roster of the course folder, by which an LMS's files find their student.

An LMS names its files by numbers and names of its own. What a student is called here is the
roster's `id`: the number of an LMS may change from one assignment to the next.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from graders.authoring.class_folder import ROSTER
from graders.judge.records import GraderError

STUDENT = re.compile(r"[\w.@-]{1,100}\Z")  # the name of a folder, too


@dataclass(frozen=True)
class Enrolled:
    """One line of the roster; the columns are nbgrader's."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def names(self) -> set[str]:
        """What the student may be called: first name first, and last name first."""
        both = (self.first_name + self.last_name, self.last_name + self.first_name)
        return {key for name in both if (key := folded(name))}


def folded(name: str) -> str:
    """A name without case, accents, blanks and signs, as an LMS writes it in a file name."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in plain if letter.isalnum())


class Roster:
    """The students of a class; falsy where nobody is entered."""

    def __init__(self, students: Iterable[Enrolled] = ()) -> None:
        self.students = tuple(students)
        self._by: dict[str, dict[str, set[str]]] = {"id": {}, "lms": {}, "email": {}, "name": {}}
        for student in self.students:
            self._add("id", student.id, student.id)
            self._add("lms", student.lms_user_id, student.id)
            self._add("email", student.email.casefold(), student.id)
            for name in student.names:
                self._add("name", name, student.id)

    def _add(self, kind: str, key: str, student: str) -> None:
        if key:
            self._by[kind].setdefault(key, set()).add(student)

    def __len__(self) -> int:
        return len(self.students)

    def find(self, marks: Sequence[str]) -> tuple[str, str]:
        """The student whom the first of these marks names that the roster knows.

        A mark is an id, a number of the LMS, an e-mail address or a name. Returns the student's
        id and "", or "" and the reason.
        """
        for mark in marks:
            for kind, key in (
                *(("id", mark), ("lms", mark), ("email", mark.casefold())),
                ("name", folded(mark)),
            ):
                found = self._by[kind].get(key, set())
                if len(found) > 1:
                    who = ", ".join(sorted(found))
                    return "", f"{mark!a} may be any of {who}: the roster does not tell them apart"
                if found:
                    return next(iter(found)), ""
        return "", f"the roster has nobody called {' or '.join(ascii(mark) for mark in marks)}"


def read_roster(course: Path) -> Roster:
    """The roster of the class in that folder; empty where there is none."""
    path = course / ROSTER
    if not path.is_file():
        return Roster()
    known = {field.name for field in fields(Enrolled)}
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [
                {key: (value or "").strip() for key, value in row.items() if key in known}
                for row in reader
            ]
            head = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise GraderError(f"{path} cannot be read: {error}") from error
    if "id" not in head:
        raise GraderError(f"{path}: its first line must name the columns; `id` is missing")
    students = [Enrolled(**row) for row in rows if any(row.values())]
    _check(path, students)
    return Roster(students)


def _check(path: Path, students: Sequence[Enrolled]) -> None:
    seen: set[str] = set()
    for student in students:
        if not STUDENT.match(student.id) or student.id in (".", ".."):
            raise GraderError(
                f"{path}: {student.id!a} is no id of a student: letters, digits and . _ @ -"
            )
        if student.id in seen:
            raise GraderError(f"{path}: the id {student.id} stands there twice")
        seen.add(student.id)


def enter(roster: Roster, database: str) -> None:
    """Bring names, addresses and LMS numbers of the roster into the gradebook.

    What the roster leaves empty stays as it is.
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
