"""How learning platforms pack submissions: whose file is it, by what its path says?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from graders.grading.intake.roster import STUDENT
from graders.judge.records import GraderError

# Re-zipped folders have one more folder around them.
_INSIDE, _KIND = r"(?:[^/]+/)?", r"\.(?:ipynb|py)\Z"
# Canvas: lastfirst_LATE_1234_56789_01_vector_add-2.ipynb
_CANVAS = re.compile(
    rf"{_INSIDE}(?P<name>[^_/]+)_(?P<late>LATE_)?(?P<id>\d+)_\d+_[^/]+{_KIND}", re.IGNORECASE
)
# Moodle: First Last_1234_assignsubmission_file_/x.ipynb, or the same without the folder
_MOODLE = re.compile(
    rf"{_INSIDE}(?P<name>[^/]+)_\d+_assignsubmission_file(?:_?/(?:[^/]+/)*|_)[^/]+{_KIND}"
)
# Gradescope: submission_1234/x.ipynb, and who that is in submission_metadata.yml
_GRADESCOPE = re.compile(rf"{_INSIDE}(?P<submission>submission_\d+)/(?:[^/]+/)*[^/]+{_KIND}")
_PLAIN = re.compile(rf"(?P<id>[^/]+)/[^/]+{_KIND}")
_FLAT = re.compile(rf"(?P<id>[^/]+){_KIND}")
GRADESCOPE_METADATA = "submission_metadata.yml"
NAMELESS = "its name tells no student"


@dataclass(frozen=True)
class Claim:
    """Whom a path names. `marks` are looked up in the roster, the surest first.

    `student` is who it is where there is no roster; "" where the path alone cannot say it.
    """

    path: str
    marks: tuple[str, ...]
    student: str = ""
    late: bool = False
    lms: str = ""


Recognise = Callable[[str], Claim | None]


def is_junk(path: str) -> bool:
    """What a system packs beside the files: macOS's copies, hidden files, checkpoints."""
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(path).parts)


def recogniser(paths: Iterable[str], metadata: Mapping[str, Any] | None = None) -> Recognise:
    """The reading of paths that fits all of them: one zip comes from one platform.

    `metadata` is what Gradescope packs beside the submissions.
    """
    if metadata is not None:
        return lambda path: _gradescope(path, metadata)
    paths = list(paths)
    if any(_MOODLE.match(path) for path in paths):
        return _moodle
    if any(_CANVAS.match(path) for path in paths):
        return _canvas
    return _plain


def _canvas(path: str) -> Claim | None:
    found = _CANVAS.match(path)
    if found is None:
        return None
    marks = (found["id"], found["name"])
    return Claim(path, marks, found["id"], late=bool(found["late"]), lms="canvas")


def _moodle(path: str) -> Claim | None:
    """Moodle's number is the assignment's, not the student's: only the name counts."""
    found = _MOODLE.match(path)
    return None if found is None else Claim(path, (found["name"],), lms="moodle")


def _gradescope(path: str, metadata: Mapping[str, Any]) -> Claim | None:
    found = _GRADESCOPE.match(path)
    entry = metadata.get(found["submission"]) if found else None
    if not isinstance(entry, Mapping):
        return None
    people = entry.get(":submitters")
    if not isinstance(people, list) or not people or not isinstance(people[0], Mapping):
        return None
    said = [str(people[0].get(key) or "") for key in (":sid", ":email", ":name")]
    student = said[0] if STUDENT.match(said[0]) else ""
    return Claim(path, tuple(mark for mark in said if mark), student, lms="gradescope")


def _plain(path: str) -> Claim | None:
    found = _PLAIN.match(path) or _FLAT.match(path)
    if found is None:
        return None
    known = STUDENT.match(found["id"]) and found["id"] not in (".", "..")
    return Claim(path, (found["id"],), found["id"] if known else "")


def read_metadata(text: str) -> Mapping[str, Any]:
    """Gradescope's submission_metadata.yml; a GraderError where it is none."""
    import yaml

    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise GraderError(f"{GRADESCOPE_METADATA} cannot be read: it is no YAML") from error
    if not isinstance(found, Mapping):
        raise GraderError(f"{GRADESCOPE_METADATA} cannot be read: it names no submissions")
    return found
