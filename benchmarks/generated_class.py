"""A class whose grades are known before it is graded: who hands in what, and by which way.

Students are generated; what they hand in is taken from a table that repeats, so that a few
distinct kernels make a class of any size, and a judgement that is kept serves many.
"""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from graders.authoring.grade_cells import public_points
from graders.authoring.kernels import correct_kernel, wrong_kernel
from graders.authoring.rooms import Rooms
from graders.judge import discovery

LESSON = EXERCISE = "vector_add"
RECORD = discovery.exercise(EXERCISE)
SIZE = 12_345  # no case of the course has it, until a hidden one is added
GRID = "grid = (triton.cdiv(n_elements, BLOCK_SIZE), 1, 1)"
LMS = ("canvas", "moodle", "gradescope")

# kernel, form, way, late; a class of eight has every form and every way
ROWS = (
    ("right", "notebook", "exchange", False),
    ("until changed", "notebook", "canvas", False),
    ("right", "script", "moodle", False),
    ("right", "damaged", "gradescope", False),
    ("right", "notebook", "exchange", True),
    ("until changed", "notebook", "exchange", False),
    ("right", "notebook", "gradescope", False),
    ("right", "notebook", "moodle", False),
    ("renamed", "notebook", "exchange", False),
    ("wrong", "notebook", "canvas", False),
    ("untouched", "notebook", "moodle", False),
    ("wrong", "script", "gradescope", False),
    ("right", "damaged", "exchange", False),
    ("until changed", "notebook", "exchange", True),
    ("renamed", "notebook", "canvas", False),
)


@dataclass(frozen=True)
class Member:
    """One student of the class, and what is handed in."""

    number: int
    kernel: str
    form: str  # notebook, script, damaged
    way: str  # exchange, or the learning platform
    late: bool

    @property
    def id(self) -> str:
        return f"s{self.number:03}"

    @property
    def name(self) -> tuple[str, str]:
        return f"First{self.number}", f"Last{self.number}"

    @property
    def lms_id(self) -> str:
        return str(7000 + self.number)

    @property
    def email(self) -> str:
        return f"{self.id}@example.org"

    @property
    def packed_as(self) -> str:
        """The path that the learning platform gives to the file; "" for the exchange."""
        first, last = self.name
        kind = "py" if self.form == "script" else "ipynb"
        return {
            "exchange": "",
            "canvas": f"{last}{first}_{self.lms_id}_{9000 + self.number}_answer.{kind}".lower(),
            "moodle": f"{first} {last}_{500 + self.number}_assignsubmission_file_/answer.{kind}",
            "gradescope": f"assignment_5_export/submission_{self.number}/answer.{kind}",
        }[self.way]

    @property
    def by_hand(self) -> float | None:
        """The points that a person gives for the case study; None where nothing is written."""
        answered = self.form == "notebook" and self.kernel != "untouched"
        return float(1 + self.number % 5) if answered else None

    def judged(self, changed: bool) -> float:
        """The points for the kernel, before and after the hidden cases have changed."""
        if self.kernel in ("wrong", "untouched"):
            return 0.0
        if changed and self.kernel == "until changed":
            return public_points(RECORD)
        return RECORD.max_points

    def score(self, changed: bool) -> float | None:
        """What the tables for an LMS must say at the end; None for an open grade."""
        if self.form == "damaged":
            return None
        return 0.0 if self.late else self.judged(changed) + (self.by_hand or 0.0)


def members(count: int) -> list[Member]:
    """The class: the rows in turn."""
    return [Member(number, *ROWS[number % len(ROWS)]) for number in range(count)]


def kernels(rooms: Rooms) -> dict[str, str]:
    """The code by the name that the rows give it."""
    right = correct_kernel(rooms, EXERCISE, "careful_launcher")
    wrong = wrong_kernel(rooms, EXERCISE, "missing_mask")
    short = GRID.replace("BLOCK_SIZE)", f"BLOCK_SIZE) - (n_elements == {SIZE})")
    assert right.count(GRID) == 1
    return {
        "right": right,
        "renamed": right.replace("add_kernel", "add"),  # the lesson calls a tensor so
        "wrong": wrong,
        "until changed": right.replace(GRID, short),
    }


def add_hidden_case(clone: Path) -> None:
    """Change the hidden cases of a clone: one of the size for which a kernel does too little."""
    path = clone / "graders" / "hidden" / f"{LESSON}.py"
    text = path.read_text(encoding="utf-8")
    before = '*cases(two, "n", [997,'
    assert text.count(before) == 1
    path.write_text(text.replace(before, f"{before} {SIZE},"), encoding="utf-8")


@dataclass(frozen=True)
class Writer:
    """Makes the files that are handed in, from the notebook that was released."""

    released: Path
    code: dict[str, str]

    def content(self, member: Member) -> str:
        if member.form == "damaged":
            return '{"cells": [{"cell_type": "code", "sour'  # a download that was cut off
        if member.form == "script":
            return self.code[member.kernel]
        notebook = nbformat.read(self.released, as_version=4)
        if member.kernel != "untouched":
            next(cell for cell in notebook.cells if cell.id == EXERCISE).source = self.code[
                member.kernel
            ]
            for cell in notebook.cells:
                marks = cell.metadata.get("nbgrader", {})
                if marks.get("solution") and cell.cell_type == "markdown":
                    cell.source = f"Because of the last block. Answer {member.number}."
        return json.dumps(notebook)

    def pack(self, members: Iterable[Member], lms: str, folder: Path) -> Path:
        """The zip that the platform offers to the instructor."""
        path = folder / f"{lms}.zip"
        mine = [member for member in members if member.way == lms]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in mine:
                archive.writestr(member.packed_as, self.content(member))
            archive.writestr("__MACOSX/._answer.ipynb", "not a notebook")
            if lms == "gradescope":
                archive.writestr("assignment_5_export/submission_metadata.yml", _metadata(mine))
        return path


def _metadata(members: Sequence[Member]) -> str:
    lines = []
    for member in members:
        lines.append(f"submission_{member.number}:\n  :submitters:\n")
        lines.append(f"  - :name: {' '.join(member.name)}\n    :email: {member.email}\n")
    return "".join(lines)


def write_roster(members: Iterable[Member], path: Path) -> None:
    """The roster of the class, in nbgrader's columns."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "first_name", "last_name", "email", "lms_user_id"])
        for member in members:
            writer.writerow([member.id, *member.name, member.email, member.lms_id])
