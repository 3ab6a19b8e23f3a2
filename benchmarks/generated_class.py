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
from datetime import datetime, timedelta
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

PER_DAY, FREE_DAYS = 10, 1  # percent of the points; late days of each student
MOMENT, TWO_DAYS = timedelta(seconds=1), timedelta(hours=50)
PAIR, GROUP = "pair", "group"  # a team of teams.csv; a group of Gradescope

# kernel, form, way, late, team; a class of 22 has every form, every way and every team
ROWS: tuple[tuple[str, str, str, timedelta, str], ...] = (
    ("right", "notebook", "exchange", timedelta(), ""),
    ("until changed", "notebook", "canvas", timedelta(), ""),
    ("right", "script", "moodle", timedelta(), ""),
    ("right", "damaged", "gradescope", timedelta(), ""),
    ("right", "notebook", "exchange", MOMENT, ""),
    ("until changed", "notebook", "exchange", timedelta(), ""),
    ("right", "notebook", "gradescope", timedelta(), ""),
    ("right", "notebook", "moodle", timedelta(), ""),
    ("renamed", "notebook", "exchange", timedelta(), ""),
    ("wrong", "notebook", "canvas", timedelta(), ""),
    ("untouched", "notebook", "moodle", timedelta(), ""),
    ("wrong", "script", "gradescope", timedelta(), ""),
    ("right", "damaged", "exchange", timedelta(), ""),
    ("until changed", "notebook", "exchange", MOMENT, ""),
    ("renamed", "notebook", "canvas", timedelta(), ""),
    ("wrong", "notebook", "exchange", timedelta(), PAIR),  # the next one counts for the pair
    ("right", "notebook", "exchange", timedelta(), PAIR),
    ("right", "nothing", "team", timedelta(), PAIR),
    ("until changed", "notebook", "gradescope", TWO_DAYS, GROUP),
    ("until changed", "nothing", "gradescope", TWO_DAYS, GROUP),  # has an extension
    ("right", "notebook", "gradescope", TWO_DAYS, ""),
    ("right", "nothing", "nothing", timedelta(), ""),
)


@dataclass(frozen=True)
class Member:
    """One student of the class, and what is handed in."""

    number: int
    kernel: str
    form: str  # notebook, script, damaged; nothing, if another one handed in for the team
    way: str  # exchange, or the learning platform; "nothing" without any work
    lateness: timedelta
    kind: str  # of the team, or ""

    @property
    def hands_in(self) -> bool:
        return self.form != "nothing"

    @property
    def late(self) -> bool:
        return bool(self.lateness)

    @property
    def team(self) -> str:
        """The name of the team; each repetition of the table has its own."""
        return f"{self.kind}-{self.number // len(ROWS)}" if self.kind else ""

    @property
    def work(self) -> int:
        """The number of the member whose work counts."""
        first = self.number - self.number % len(ROWS)
        return first + {PAIR: 16, GROUP: 18}.get(self.kind, self.number % len(ROWS))

    @property
    def extension(self) -> timedelta:
        """The extension in rules.toml."""
        return timedelta(days=1 if self.kind == GROUP and not self.hands_in else 0)

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
        if not self.hands_in:
            return ""
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
        return float(1 + self.work % 5) if answered else None

    def judged(self, changed: bool) -> float:
        """The points for the kernel, before and after the hidden cases have changed."""
        if self.kernel in ("wrong", "untouched"):
            return 0.0
        if changed and self.kernel == "until changed":
            return public_points(RECORD)
        return RECORD.max_points

    def score(self, changed: bool) -> float | None:
        """What the tables for an LMS must say at the end; None for an open grade, or nothing."""
        if self.form == "damaged" or self.way == "nothing":
            return None
        counts = Member(self.work, *ROWS[self.work % len(ROWS)])
        points = counts.judged(changed) + (counts.by_hand or 0.0)
        late = max(0, -((self.extension - counts.lateness) // timedelta(days=1)) - FREE_DAYS)
        return round(points * (1 - PER_DAY / 100 * late), 2)


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
    path = clone / "graders" / "course" / LESSON / "hidden.py"
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

    def pack(self, members: Iterable[Member], lms: str, folder: Path, due: datetime) -> Path:
        """The zip that the platform offers to the instructor."""
        path = folder / f"{lms}.zip"
        mine = [member for member in members if member.way == lms]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in (member for member in mine if member.hands_in):
                archive.writestr(member.packed_as, self.content(member))
            archive.writestr("__MACOSX/._answer.ipynb", "not a notebook")
            if lms == "gradescope":
                archive.writestr(
                    "assignment_5_export/submission_metadata.yml", _metadata(mine, due)
                )
        return path


def _metadata(members: Sequence[Member], due: datetime) -> str:
    """Gradescope's list of who handed in what, and when: an hour early, or late."""
    lines = []
    for member in (member for member in members if member.hands_in):
        time = due + (member.lateness or -timedelta(hours=1))
        lines.append(f"submission_{member.number}:\n  :created_at: {time:%Y-%m-%d %H:%M:%S} UTC\n")
        lines.append("  :submitters:\n")
        for one in members:
            if one is member or (member.team and one.team == member.team):
                lines.append(f"  - :name: {' '.join(one.name)}\n    :email: {one.email}\n")
    return "".join(lines)


def write_teams(members: Iterable[Member], path: Path) -> None:
    """The teams of a term, which an instructor writes."""
    lines = ["assignment,student,team"]
    lines += [f",{one.id},{one.team}" for one in members if one.kind == PAIR]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_rules(members: Iterable[Member], assignment: str, due: datetime, path: Path) -> None:
    """Due date, late days, penalty and extensions."""
    lines = ["[due]", f"{assignment} = {due:%Y-%m-%dT%H:%M:%SZ}", "[late]"]
    lines += [f"per_day = {PER_DAY}", f"free_days = {FREE_DAYS}"]
    for one in members:
        if one.extension:
            lines += [f"[extensions.{one.id}]", f"{assignment} = {{days = {one.extension.days}}}"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_roster(members: Iterable[Member], path: Path) -> None:
    """The roster of the class, in nbgrader's columns."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "first_name", "last_name", "email", "lms_user_id"])
        for member in members:
            writer.writerow([member.id, *member.name, member.email, member.lms_id])
