"""Reads from a file's path who handed it in, by the naming rules of learning platforms.

The instructor names the platform, and paths are read by that platform's rules only. Only the
part that the platform wrote identifies the student. The rest is the student's choice: the name
of an upload, and folders inside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from graders.grading.intake.gradescope import HandIn
from graders.grading.intake.handed_in import KINDS, PACKED
from graders.grading.intake.roster import Roster, folded


@dataclass(frozen=True)
class Person:
    """What a platform says about one student; unknown fields are empty.

    `folder` is the instructor's name of a folder: an id, a number, an address or a name.
    """

    id: str = ""
    number: str = ""
    email: str = ""
    name: str = ""
    folder: str = ""


@dataclass(frozen=True)
class Claim:
    """Who handed in a file. Files with the same `sender` were handed in together.

    `people` are the members of a group, or one person. `team` is the platform's name for the
    group, or "". `instead` is the other possible person if the path can be read in two ways.
    `file` is the student's own file name.
    """

    sender: str
    people: tuple[Person, ...]
    file: str
    instead: Person | None = None
    late: bool = False
    time: datetime | None = None
    team: str = ""


Read = Callable[[str], Claim | None]
PATTERNS = {
    "canvas": "NAME_NUMBER_NUMBER_FILE",
    "moodle": "NAME_NUMBER_assignsubmission_file_/FILE",
    "gradescope": "submission_NUMBER/FILE",
    "nbgrader": "STUDENT/ASSIGNMENT/FILE",
    "folders": "STUDENT/FILE or STUDENT.ipynb",
}
GROUPED = ("moodle", "gradescope")  # platforms whose files name groups and their members
NAMING = ("canvas", "moodle", "gradescope")  # platforms with their own rules for file names
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
    "moodle": re.compile(r"\A.*_\d+_assignsubmission_[a-z]+_?\Z", re.DOTALL),
    "gradescope": re.compile(r"submission_\d+\Z"),
}
_OF_A_PLATFORM = re.compile(r".*_\d+_", re.DOTALL)


def canvas(assignment: str) -> Read:
    """Return a reader for Canvas's names, whose number is the student's in the whole course."""

    def read(path: str) -> Claim | None:
        found = _CANVAS.match(path) or _CANVAS_TEXT.match(path)
        if found is None:
            return None
        first = Person(number=found["id"], name=found["name"])
        other = _other(found, assignment) if found.re is _CANVAS else None
        return Claim(found["id"], (first,), found["file"], other, bool(found["late"]))

    return read


def _other(found: re.Match[str], assignment: str) -> Person | None:
    """Return the owner if the student's name ends in a number, as in `ada_12`.

    This is impossible if the file is named like the assignment: then the number is part of that.
    """
    if found["late"] or found["file"].startswith(assignment):
        return None
    if not _CANVAS_UPLOAD.match(found["file"]):
        return None
    return Person(number=found["upload"], name=f"{found['name']}_{found['id']}")


def moodle(roster: Roster) -> Read:
    """Return a reader for Moodle's names. The number changes with the assignment.

    If students submit in groups, Moodle packs the group's file once for each member, as
    `GROUP-NAME_77_…`. A name of the roster is a name, even if it contains a hyphen.
    """

    def read(path: str) -> Claim | None:
        found = _MOODLE.match(path)
        if found is None:
            return None
        team, name = "", found["name"]
        for hyphen in re.finditer("-", name):
            rest = name[hyphen.end() :]
            if not roster.by("name", name) and _is_name(rest, roster):
                team, name = name[: hyphen.start()], rest
                break
        person = Person(name=name)
        return Claim(found["number"], (person,), found["file"], team=team)

    return read


def _is_name(text: str, roster: Roster) -> bool:
    return bool(roster.by("name", text)) or folded(text) == "participant"


def gradescope(submissions: Mapping[str, HandIn]) -> Read:
    """Return a reader for Gradescope's folders; its metadata file says who handed them in."""

    def read(path: str) -> Claim | None:
        folder, _, file = path.partition("/")
        said = submissions.get(folder)
        if not file or said is None or not said.people:
            return None
        people = tuple(
            Person(number=sid, email=email, name=name) for sid, email, name in said.people
        )
        return Claim(folder, people, file, time=said.time, team=folder if people[1:] else "")

    return read


def nbgrader(assignment: str) -> Read:
    """Return a reader for STUDENT/ASSIGNMENT/file, as in nbgrader's folder `submitted`."""

    def read(path: str) -> Claim | None:
        parts = path.split("/", 2)
        if len(parts) < 3 or parts[1] != assignment:
            return None
        return Claim(parts[0], (Person(id=parts[0]),), parts[2])

    return read


def folders(assignment: str, roster: Roster) -> Read:
    """Return a reader for STUDENT/file or STUDENT.ipynb, as an instructor names them.

    Without a roster, two kinds of path identify no student: a folder inside a student's folder
    (the student or the instructor may have made it), and a name with a number (it may be a
    platform's).
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
    """Return the folder that contains all of these paths, with its slash; "" if there is none.

    Only a folder that the instructor must have made counts.
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
    """Return the path without the platform's folder, whose name may begin with a dot."""
    top, _, rest = path.partition("/")
    ours = _TOPS.get(lms)
    return rest if rest and ours is not None and ours.match(top) else path


def is_student(text: str, roster: Roster) -> bool:
    """Whether this text is any id, name, address or number in the roster."""
    kinds = ("id", "email", "name", "canvas", "gradescope")
    return any(roster.by(kind, text) for kind in kinds)
