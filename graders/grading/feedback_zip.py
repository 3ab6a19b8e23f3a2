"""Packs feedback into one zip, under the learning platform's file names of the submissions."""

from __future__ import annotations

import copy
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from graders.grading.intake import origins
from graders.grading.ledger.settled import ledger_of
from graders.grading.plugins.release import SECRET
from graders.judge.plain_text import one_line
from graders.judge.records import GraderError

ROOM = Path(".tilewise") / "team_pages"  # in the course folder


@dataclass(frozen=True)
class Packed:
    """The students whose page is in the zip, and those who handed in but have no page."""

    packed: tuple[str, ...]
    missing: tuple[str, ...]


def pack(course: Path, assignment: str, target: Path) -> Packed:
    """Write the pages that `nbgrader generate_feedback` has made into one zip.

    Canvas and Moodle accept a zip whose files have the names that they gave to the submissions.
    A submission that came in another way gets the student's name.
    """
    known = origins.read(course, assignment)
    came = {path.parent.name for path in (course / "submitted").glob(f"*/{assignment}")}
    made = {path.parent.name for path in (course / "feedback").glob(f"*/{assignment}")}
    students = sorted(came | made)  # team members have a page but no submission
    packed, missing = [], []
    used: set[str] = set()  # a group hands in one file for several students
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for student in students:
            page = course / "feedback" / student / assignment / f"{assignment}.html"
            if not page.is_file():
                missing.append(student)
                continue
            place = known.get(student, "")
            if not place or place in used:
                place = f"{student}/{assignment}.ipynb"
            used.add(place)
            archive.write(page, str(PurePosixPath(place).with_suffix(".html")))
            packed.append(student)
    return Packed(tuple(packed), tuple(missing))


def write_team_pages(course: Path, assignment: str, config: Any) -> None:
    """Write a feedback page for each team member whose work another member handed in.

    It has the member's own total, because extensions and late days may differ. It is written
    without nbgrader's secret; with it, it would replace the page of the member who handed in.
    """
    with ledger_of(course, config, assignment) as ledger:
        works = {a.student: a.work for a in ledger.accounts(assignment) if a.handed_in}
    for student, work in works.items():
        graded = course / "autograded" / work / assignment
        if student == work or not graded.is_dir():
            continue
        place = course / ROOM / student / assignment
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(graded, place, ignore=shutil.ignore_patterns(SECRET))
        generate(config, assignment, student, str(ROOM))
    shutil.rmtree(course / ROOM, ignore_errors=True)


def generate(config: Any, assignment: str, student: str | None = None, room: str = "") -> None:
    """Run nbgrader's own feedback, for all graded students or for one."""
    from nbgrader.apps.api import NbGraderAPI  # slow to import

    own = copy.deepcopy(config)
    if room:
        own.CourseDirectory.autograded_directory = room
    api = NbGraderAPI(config=own)
    api.log.setLevel("ERROR")
    done = api.generate_feedback(assignment, student, force=True)
    if not done["success"]:
        said = [line for line in str(done.get("error") or done.get("log")).splitlines() if line]
        raise GraderError(f"nbgrader could not write the feedback: {one_line(said[-1])}")
