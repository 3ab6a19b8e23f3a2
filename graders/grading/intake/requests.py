"""Finds what students ask to have graded again, and stores the instructor's answers.

A student asks in a text cell that begins with "Regrade request:", or in a file regrade.md that is
handed in beside the notebook.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graders.authoring.refusal import refusal
from graders.grading.atomic_files import read_json, write_atomically
from graders.judge.plain_text import plain, shortened

FILE = "regrade.md"
LONGEST = 2_000  # characters of a request
_ASKS = re.compile(r"\A[\s#*_>]*regrade request\b[\s*_:]*", re.I)


@dataclass(frozen=True)
class RegradeRequest:
    """What a student asks. `answer` is "" while it is open."""

    student: str
    text: str
    answer: str = ""


def is_request(cell: Mapping[str, Any]) -> bool:
    """Whether a text cell asks for regrading. Such a cell is not part of the student's work."""
    return cell["cell_type"] in ("markdown", "raw") and bool(_ASKS.match(cell["source"]))


def read_requests(course: Path, assignment: str) -> list[RegradeRequest]:
    """Return the requests of all graded students, sorted by student."""
    students = {path.parent.name for path in course.glob(f"autograded/*/{assignment}")}
    students |= {path.parent.name for path in course.glob(f"submitted/*/{assignment}")}
    students |= set(read_json(_place(course, assignment)))
    found = []
    for student in sorted(students):
        path = course / "autograded" / student / assignment / f"{assignment}.ipynb"
        found += requests_of(course, assignment, student, _cells(path))
    return found


def requests_of(
    course: Path, assignment: str, student: str, cells: Iterable[Mapping[str, Any]]
) -> list[RegradeRequest]:
    """Return a student's requests: the answered ones, then those in the present work."""
    texts = [_ASKS.sub("", cell["source"]) for cell in cells if is_request(cell)]
    texts.append(_ASKS.sub("", _file(course / "submitted" / student / assignment / FILE)))
    known = [RegradeRequest(student, **one) for one in _answered(course, assignment, student)]
    answered = {request.text for request in known}
    asked = [shortened(plain(text).strip(), LONGEST) for text in texts]
    return known + [
        RegradeRequest(student, text)
        for text in dict.fromkeys(asked)
        if text and text not in answered
    ]


def answer(course: Path, assignment: str, student: str, text: str) -> int:
    """Answer all open requests of a student; return their number. GraderError without one."""
    mine = [one for one in read_requests(course, assignment) if one.student == student]
    fresh = [one for one in mine if not one.answer]
    if not fresh:
        raise refusal(f"{student} has no open request for {assignment}")
    texts = [{"text": one.text, "answer": text} for one in fresh]
    before = [
        {k: v for k, v in asdict(one).items() if k != "student"} for one in mine if one.answer
    ]
    path = _place(course, assignment)
    write_atomically(path, {**read_json(path), student: [*before, *texts]})
    return len(fresh)


def _place(course: Path, assignment: str) -> Path:
    return course / ".tilewise" / "requests" / f"{assignment}.json"


def _answered(course: Path, assignment: str, student: str) -> list[dict[str, str]]:
    return list(read_json(_place(course, assignment)).get(student, []))


def _cells(path: Path) -> list[dict[str, Any]]:
    """Return the cells of an autograded notebook, which nbgrader wrote."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, LookupError):
        return []
    return [{**cell, "source": "".join(cell["source"])} for cell in cells]  # text or its lines


def _file(path: Path) -> str:
    """Return the beginning of a file that the student handed in; "" if it is not a plain file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(4 * LONGEST).decode("utf-8-sig", "replace")
    except OSError:
        return ""
