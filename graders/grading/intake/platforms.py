"""How learning platforms name what they pack: who handed in a file, by what its path says.

The instructor names the platform. A path is read by that platform's rules and by no other's, and
only the part that the platform wrote says who somebody is. What follows is the student's own:
the name of an upload, and folders inside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from graders.grading.intake.gradescope import HandIn
from graders.grading.intake.handed_in import KINDS, PACKED
from graders.grading.intake.roster import Roster


@dataclass(frozen=True)
class Person:
    """What a platform says of one student; what it does not say is empty.

    `folder` is how an instructor named a folder: by an id, a number, an address or a name.
    """

    id: str = ""
    number: str = ""
    email: str = ""
    name: str = ""
    folder: str = ""


@dataclass(frozen=True)
class Claim:
    """Who handed in a file. Files of one `sender` were handed in together.

    `people` are the members of a group, or one. `instead` is who it may be as well, where the
    path can be read in two ways. `file` is what the student called it.
    """

    sender: str
    people: tuple[Person, ...]
    file: str
    instead: Person | None = None
    late: bool = False
    time: datetime | None = None


Read = Callable[[str], Claim | None]
PATTERNS = {
    "canvas": "NAME_NUMBER_NUMBER_FILE",
    "moodle": "NAME_NUMBER_assignsubmission_file_/FILE",
    "gradescope": "submission_NUMBER/FILE",
    "nbgrader": "STUDENT/ASSIGNMENT/FILE",
    "folders": "STUDENT/FILE or STUDENT.ipynb",
}
NAMING = ("canvas", "moodle", "gradescope")  # which name what they pack by rules of their own
_NUMBER = r"[1-9]\d*"
# [name]_[LATE_]1234_56789_file. Canvas takes `_12_` out of names, but not `_12` at their end.
_CANVAS = re.compile(
    rf"(?P<name>(?:(?!_{_NUMBER}_)[^/])*?)_(?P<late>LATE_)?"
    rf"(?P<id>{_NUMBER})_(?P<upload>{_NUMBER})_(?P<file>[^/]+)\Z"
)
_CANVAS_UPLOAD = re.compile(rf"{_NUMBER}_[^/]+\Z")
_CANVAS_TEXT = re.compile(
    rf"(?P<name>[^/]*?)_(?P<late>LATE_)?(?P<id>{_NUMBER})_(?P<file>(?:text|link)\.html)\Z"
)
# First Last_1234_assignsubmission_file_/x.ipynb, or the same without the folder
_MOODLE = re.compile(
    r"(?P<name>[^/]*?)_(?P<number>\d+)_assignsubmission_[a-z]+(?:_?/|_)(?P<file>.+)\Z", re.DOTALL
)
_TOPS = {  # the first folder of a path that the platform itself has made
    "moodle": re.compile(r".*_\d+_assignsubmission_[a-z]+_?\Z", re.DOTALL),
    "gradescope": re.compile(r"submission_\d+\Z"),
}
_OF_A_PLATFORM = re.compile(r".*_\d+_", re.DOTALL)


def canvas(assignment: str) -> Read:
    """Canvas's names. The number is the student's, for all of a course."""

    def read(path: str) -> Claim | None:
        found = _CANVAS.match(path) or _CANVAS_TEXT.match(path)
        if found is None:
            return None
        first = Person(number=found["id"], name=found["name"])
        other = _other(found, assignment) if found.re is _CANVAS else None
        return Claim(found["id"], (first,), found["file"], other, bool(found["late"]))

    return read


def _other(found: re.Match[str], assignment: str) -> Person | None:
    """Whose file it is if the student's name ends in a number: `ada_12` is a name, too.

    A file that is called like the assignment rules that out: that number is the assignment's.
    """
    if found["late"] or found["file"].startswith(assignment):
        return None
    if not _CANVAS_UPLOAD.match(found["file"]):
        return None
    return Person(number=found["upload"], name=f"{found['name']}_{found['id']}")


def moodle(path: str) -> Claim | None:
    """Moodle's number is the assignment's and not the student's: only the name says who it is."""
    found = _MOODLE.match(path)
    if found is None:
        return None
    return Claim(found["number"], (Person(name=found["name"]),), found["file"])


def gradescope(submissions: Mapping[str, HandIn]) -> Read:
    """Gradescope's folders; who that is stands in the file that it packs beside them."""

    def read(path: str) -> Claim | None:
        folder, _, file = path.partition("/")
        said = submissions.get(folder)
        if not file or said is None or not said.people:
            return None
        people = tuple(
            Person(number=sid, email=email, name=name) for sid, email, name in said.people
        )
        return Claim(folder, people, file, time=said.time)

    return read


def nbgrader(assignment: str) -> Read:
    """STUDENT/ASSIGNMENT/file, as in nbgrader's folder `submitted`."""

    def read(path: str) -> Claim | None:
        parts = path.split("/", 2)
        if len(parts) < 3 or parts[1] != assignment:
            return None
        return Claim(parts[0], (Person(id=parts[0]),), parts[2])

    return read


def folders(assignment: str, roster: Roster) -> Read:
    """STUDENT/file or STUDENT.ipynb, as an instructor names them.

    Without a roster a folder in a student's folder could be the student's as well as the
    instructor's, and a name with a number in it a platform's: both name nobody.
    """

    def read(path: str) -> Claim | None:
        student, _, file = path.partition("/")
        if not file:
            place = PurePosixPath(path)
            if place.suffix.lower() not in (*KINDS, PACKED):
                return None
            student, file = place.stem, path
        elif not roster:
            file = file.removeprefix(f"{assignment}/")
        if not student or (not roster and ("/" in file or _OF_A_PLATFORM.match(student))):
            return None
        return Claim(student, (Person(folder=student),), file)

    return read


def folder_around(lms: str, paths: Sequence[str], assignment: str, roster: Roster) -> str:
    """The folder around all of these paths, with its slash, where nobody but the instructor
    can have made it; else "".
    """
    parts = [path.split("/") for path in paths]
    if len({part[0] for part in parts}) != 1 or any(len(part) < 2 for part in parts):
        return ""
    top = parts[0][0]
    ours = _TOPS.get(lms)
    if (ours is not None and ours.match(top)) or is_student(top, roster):
        return ""
    if lms == "canvas" and len(paths) == 1:  # that may be the folder of a student
        return ""
    if lms in ("nbgrader", "folders") and not roster:
        second = any(part[1] == assignment for part in parts)
        third = any(len(part) > 3 and part[2] == assignment for part in parts)
        return f"{top}/" if third and not second else ""
    return f"{top}/"


def students_part(lms: str, path: str) -> str:
    """The path without the folder that the platform made: a student's name may begin with a dot."""
    top, _, rest = path.partition("/")
    ours = _TOPS.get(lms)
    return rest if rest and ours is not None and ours.match(top) else path


def is_student(text: str, roster: Roster) -> bool:
    """Whether the roster knows somebody by this text, whatever it is."""
    kinds = ("id", "email", "name", "canvas", "gradescope")
    return any(roster.by(kind, text) for kind in kinds)
