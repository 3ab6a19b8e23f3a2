"""Grades on submission: collects what arrives in the exchange, grades it and publishes feedback.

Every step can be repeated: collecting takes newer submissions, grading takes changed ones, and
publishing takes graded ones without a page. So a killed watcher continues where it was when you
start it again, and two watchers at once do no harm.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from graders.grading.autograde import Autograder, GradedStudent
from graders.grading.course_config import load_config
from graders.grading.intake.rules import Attempts, read_rules
from graders.grading.parallel import Judging
from graders.grading.plugins.commands import Nbgrader
from graders.grading.templates import rendered
from graders.judge.plain_text import one_line, plain
from graders.judge.records import GraderError

SECONDS = 5.0  # between two looks at the exchange
OURS = "<!-- tilewise: the public part -->"  # a page without this line is the instructor's


@dataclass(frozen=True)
class Look:
    """The result of one look at the exchange."""

    graded: tuple[GradedStudent, ...] = ()
    published: tuple[str, ...] = ()
    problem: str = ""


class Watcher:
    """Looks at the exchange of one assignment. `judging` makes the judges of one look."""

    def __init__(
        self, course: Path, assignment: str, database: str | None, judging: Callable[[], Judging]
    ) -> None:
        self.course, self.assignment, self._database = course, assignment, database
        self._judging = judging
        self._seen: frozenset[str] | None = None
        config = load_config(course, database)
        self.exchange = Path(config.Exchange.root) / config.CourseDirectory.course_id

    def looks(self, seconds: float = SECONDS) -> Iterator[Look]:
        """Look at the exchange again and again; yield only looks with news."""
        told = ""
        while True:
            look = self.look()
            if look.graded or look.published or look.problem not in ("", told):
                yield look
            told = look.problem
            time.sleep(seconds)

    def look(self) -> Look:
        """Collect, grade and publish new submissions; the next look retries what failed."""
        arrived = self._arrived()
        if arrived == self._seen:
            return Look()
        try:
            options = [] if self._database is None else [f"--db={self._database}"]
            done = Nbgrader().run(
                self.course, "collect", self.assignment, "--update", *options, may_fail=True
            )
            graded = self._grade()
            published = tuple(self._publish())
        except (GraderError, OSError, SQLAlchemyError) as error:
            return Look(problem=one_line(str(error)))
        self._seen = arrived
        problem = "" if done.code == 0 else _last_line(done.output)  # which was left out, or why
        return Look(graded, published, problem)

    def _arrived(self) -> frozenset[str]:
        """Return the names in the exchange's inbox; every submission has a new one."""
        try:
            names = os.listdir(self.exchange / "inbound")
        except OSError:
            return frozenset()
        return frozenset(name for name in names if f"+{self.assignment}+" in name)

    def _grade(self) -> tuple[GradedStudent, ...]:
        grader = Autograder(self.course, self.assignment, self._database)
        found = grader.grade(grader.students(), self._judging())
        return tuple(result for result in found if result.status != "unchanged")

    def _publish(self) -> Iterator[str]:
        """Write the public part of graded work where the student's `fetch_feedback` looks."""
        from nbgrader.utils import notebook_hash

        feedback = self.exchange / "feedback"
        if not feedback.exists():
            feedback.mkdir(parents=True)
            feedback.chmod(0o711)  # as nbgrader does: a page can be read by its name only
        for path in sorted(
            self.course.glob(f"submitted/*/{self.assignment}/submission_secret.txt")
        ):
            student = path.parent.parent.name
            secret = path.read_text(encoding="utf-8", errors="replace")
            page = feedback / f"{notebook_hash(secret=secret, notebook_id=self.assignment)}.html"
            text = self._page(student)
            if text is not None and _may_write(page, text):
                fresh = page.with_suffix(f".{os.getpid()}.tmp")
                fresh.write_text(text, encoding="utf-8")
                fresh.chmod(0o644)
                fresh.replace(page)
                yield student

    def _page(self, student: str) -> str | None:
        """Return the page for the student; None if the submission is not graded yet."""
        folder = self.course / "autograded" / student / self.assignment
        submitted = self.course / "submitted" / student / self.assignment / "timestamp.txt"
        try:
            notebook = json.loads((folder / f"{self.assignment}.ipynb").read_text(encoding="utf-8"))
            when = submitted.read_text(encoding="utf-8")
            if (folder / "timestamp.txt").read_text(encoding="utf-8").strip() != when.strip():
                return None
        except (OSError, ValueError):
            return None
        parts = [plain(text) for text in _public(notebook)]
        return OURS + rendered(
            "arrived.html.j2",
            assignment=self.assignment,
            submitted=one_line(when),
            attempts=self._attempts(student),
            parts=parts,
        )

    def _attempts(self, student: str) -> str:
        limit = read_rules(self.course).limit(student, self.assignment)
        return Attempts(self.course, self.assignment).told(student, limit)


def _public(notebook: dict[str, Any]) -> Iterator[str]:
    """Yield the outputs of the grade cells with public cases."""
    for cell in notebook["cells"]:
        name = str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))
        if name.endswith("-public"):
            for output in cell.get("outputs", []):
                text = output.get("text", "")
                if text:
                    yield text if isinstance(text, str) else "".join(text)


def _may_write(page: Path, text: str) -> bool:
    """Whether the page is new or changed, and was not released by the instructor."""
    try:
        there = page.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return there.startswith(OURS) and there != text


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return one_line(lines[-1]) if lines else "nbgrader could not collect, and gave no reason"
