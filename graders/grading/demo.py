"""Takes a demo class through nbgrader's own commands, from the assignment to the gradebook."""

from __future__ import annotations

import csv
import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat

from graders.authoring import class_folder
from graders.authoring.grade_cells import hidden_id, public_id
from graders.authoring.lesson import read_lesson
from graders.authoring.rooms import Rooms
from graders.grading.demo_students import Pupil, class_of
from graders.grading.marks import UNSANDBOXED
from graders.grading.plugins.commands import Nbgrader
from graders.judge.records import GraderError

Say = Callable[[str], None]
COURSE_ID = "demo"


@dataclass(frozen=True)
class DemoRow:
    """One line of the gradebook. Points are None if something is not graded yet."""

    pupil: Pupil
    public: float | None
    hidden: float | None
    exported: float | None
    findings: str
    notes: tuple[str, ...]


class Demo:
    """A built course in a separate folder, and a class that hands in one lesson."""

    def __init__(self, rooms: Rooms, folder: Path, lesson: str, say: Say) -> None:
        self._rooms, self._folder, self._say = rooms, folder, say
        self._lesson = read_lesson(rooms.lesson_file(lesson))
        self.assignment = self._lesson.stem
        self.exercise = self._lesson.names("exercise")[0]
        self.pupils = class_of(rooms, self._lesson.slug, self.exercise)
        self.course, self._homes = folder / "course", folder / "homes"
        # A demonstration gives no real grades.
        self._nbgrader = Nbgrader({UNSANDBOXED: os.environ.get(UNSANDBOXED, "1")})

    def run(self) -> list[DemoRow]:
        """Run all of nbgrader's commands in order; return the gradebook."""
        self._prepare()
        self._instructor("generate_assignment", self.assignment)
        self._instructor("release_assignment", self.assignment)
        for pupil in self.pupils:
            self._hand_in(pupil)
        self._instructor("collect", self.assignment)
        self._instructor("autograde", self.assignment)
        self._instructor("generate_feedback", self.assignment)
        self._instructor("release_feedback", self.assignment)
        self._say("nbgrader fetch_feedback")
        self._pupil(self.pupils[-1], "fetch_feedback", self.assignment)
        self._instructor("export", f"--to={self.course / 'grades.csv'}")
        return self.gradebook()

    def _prepare(self) -> None:
        if self._folder.exists():
            shutil.rmtree(self._folder)
        self._homes.mkdir(parents=True)
        class_folder.lay_out(self._rooms, self.course, COURSE_ID, only=self.assignment)

    def _instructor(self, command: str, *arguments: str) -> None:
        started = time.monotonic()
        # the whole class is one account here, so its files belong to that account
        options = ["--ExchangeCollect.check_owner=False"] if command == "collect" else []
        done = self._nbgrader.run(self.course, command, *arguments, *options)
        self._say(f"nbgrader {command}: {time.monotonic() - started:.1f} s")
        for line in done.output.splitlines():
            if "WARNING" in line or "ERROR" in line:
                self._say(f"  {line}")

    def _hand_in(self, pupil: Pupil) -> None:
        self._say(f"nbgrader fetch_assignment, submit: {pupil.name} ({pupil.handed_in})")
        home = self._homes / pupil.name
        home.mkdir()
        self._pupil(pupil, "fetch_assignment", self.assignment)
        path = home / self.assignment / f"{self.assignment}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        pupil.change(notebook)
        path.write_text(json.dumps(notebook), encoding="utf-8")  # nbformat would fix it
        self._pupil(pupil, "submit", self.assignment)

    def _pupil(self, pupil: Pupil, command: str, *arguments: str) -> None:
        self._nbgrader.run(
            self._homes / pupil.name,
            command,
            *arguments,
            f"--course={COURSE_ID}",
            f"--student={pupil.name}",
            f"--Exchange.root={self.course / 'exchange'}",
            f"--Exchange.cache={self._homes / pupil.name / '.cache'}",
        )

    def gradebook(self) -> list[DemoRow]:
        """Return the rows that the gradebook and the export contain now."""
        from nbgrader.api import Gradebook  # slow to import

        exported = read_scores(self.course / "grades.csv")
        with Gradebook(f"sqlite:///{self.course / 'gradebook.db'}") as gradebook:
            return [self._row(gradebook, pupil, exported[pupil.name]) for pupil in self.pupils]

    def _row(self, gradebook: object, pupil: Pupil, exported: float | None) -> DemoRow:
        def score(cell: str) -> float | None:
            find = gradebook.find_grade  # type: ignore[attr-defined]
            grade = find(cell, self.assignment, self.assignment, pupil.name)
            return None if grade.auto_score is None else float(grade.auto_score)

        notebook = self._autograded(pupil)
        notes = notebook.metadata.get("tilewise", {"mended": [], "tampered": []})
        return DemoRow(
            pupil,
            score(public_id(self.exercise)),
            score(hidden_id(self.exercise)),
            exported,
            self._findings(notebook),
            (*notes["mended"], *notes["tampered"]),
        )

    def _autograded(self, pupil: Pupil) -> nbformat.NotebookNode:
        folder = self.course / "autograded" / pupil.name / self.assignment
        return nbformat.read(folder / f"{self.assignment}.ipynb", as_version=4)

    def _findings(self, notebook: nbformat.NotebookNode) -> str:
        """Return the first finding in the pupil's grade cells."""
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name not in (public_id(self.exercise), hidden_id(self.exercise)):
                continue
            lines = "".join(output.get("text", "") for output in cell.outputs).splitlines()
            found = [line for line in lines if line.startswith("- ")]
            if found:
                return found[0].removeprefix("- ")
        return ""

    def feedback(self, pupil: Pupil) -> Path:
        """Return the path of the pupil's feedback page."""
        folder = self.course / "feedback" / pupil.name / self.assignment
        return folder / f"{self.assignment}.html"

    def fetched_feedback(self) -> Path:
        """Return the feedback page that the last pupil fetched from the exchange."""
        pupil = self.pupils[-1]
        folder = self._homes / pupil.name / self.assignment / "feedback"
        pages = sorted(folder.rglob(f"{self.assignment}.html"))
        if not pages:
            raise GraderError(f"{pupil.name} got no feedback in {folder}")
        return pages[-1]


def read_scores(path: Path) -> dict[str, float | None]:
    """Return the scores in grades.csv by student; None where a grade is open."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["student_id"]: float(row["score"]) if row["score"] else None for row in rows}
