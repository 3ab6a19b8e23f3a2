"""Grade all submissions of an assignment: judged in parallel, written by nbgrader one by one.

What was judged is kept at once (store.py); what nbgrader has written is remembered with a
digest of all that it depends on. So a run can be killed at any point and started again, and
does only what is missing or has changed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from graders.grading import engines, judging
from graders.grading.marks import Marks
from graders.grading.mend import MasterCell, mend
from graders.grading.parallel import Judging, Task
from graders.grading.plugins.preprocess import master_cells
from graders.grading.store import Finished, MarksStore, exercise_version, judge_version
from graders.grading.submissions import TIMESTAMP
from graders.judge.records import GraderError
from graders.judge.submission.files import without_outputs

MAX_NOTEBOOK = 500_000_000  # bytes with outputs; beyond, nobody's notebook


@dataclass(frozen=True)
class GradedStudent:
    """How one student's submission ended: graded, unchanged since last time, or ungraded."""

    student: str
    status: str  # "graded", "unchanged", "ungraded"
    reason: str = ""
    tampered: tuple[str, ...] = ()


@dataclass
class _Submission:
    """A submission on its way: its code by exercise, and the marks that have come so far."""

    student: str
    path: Path
    digest: str = ""
    keys: dict[str, str] = field(default_factory=dict)  # exercise → key
    marks: dict[str, Marks] = field(default_factory=dict)  # key → marks
    error: str = ""

    @property
    def complete(self) -> bool:
        return all(key in self.marks for key in self.keys.values())


class Autograder:
    """Grades one assignment of the course in `course`. `database` overrides the gradebook."""

    def __init__(self, course: Path, assignment: str, database: str | None = None) -> None:
        self.course, self.assignment = course.resolve(), assignment
        self._config = load_config(self.course, database)
        self._store = MarksStore(self.course / judging.STORE)
        self._finished = Finished(self.course, assignment)
        self._masters = self._find_masters()
        self._completing = False

    @property
    def database(self) -> str:
        """The gradebook's SQLAlchemy URL."""
        return str(self._config.CourseDirectory.db_url)

    def students(self, only: Sequence[str] = ()) -> list[str]:
        """Everybody who submitted, or those of them that are named."""
        found = sorted(path.parent.name for path in self._submitted().glob(f"*/{self.assignment}"))
        missing = sorted(set(only) - set(found))
        if missing:
            raise GraderError(f"nothing submitted by {', '.join(missing)} for {self.assignment}")
        return [student for student in found if not only or student in only]

    def grade(
        self, students: Sequence[str], judging_: Judging, force: bool = False
    ) -> Iterator[GradedStudent]:
        """Grade what is new or changed, in the order in which it is done."""
        self._completing = completes(judging_)
        with self._alone():
            waiting: dict[str, list[_Submission]] = {}
            ready: list[_Submission] = []
            results: list[GradedStudent] = []
            tasks = self._tasks(students, force, waiting, ready, results)
            for task, marks in judging_(tasks):
                judging.keep(self._store, task.code, task.exercise, marks)
                for submission in waiting.pop(task.key, []):
                    submission.marks[task.key] = marks
                    if submission.complete:
                        ready.append(submission)
                yield from self._drain(ready, results)
            yield from self._drain(ready, results)

    def _tasks(
        self,
        students: Sequence[str],
        force: bool,
        waiting: dict[str, list[_Submission]],
        ready: list[_Submission],
        results: list[GradedStudent],
    ) -> Iterator[Task]:
        """The judging that is needed, read one submission at a time; equal code only once."""
        for student in students:
            submission = self._read(student)
            if not force and not submission.error and self._unchanged(submission):
                results.append(GradedStudent(student, "unchanged"))
                continue
            missing = list(self._missing(submission, force, waiting))
            if submission.error or submission.complete:  # else its marks will come
                ready.append(submission)
            yield from missing

    def _missing(
        self, submission: _Submission, force: bool, waiting: dict[str, list[_Submission]]
    ) -> Iterator[Task]:
        code = _code(submission.path, self._masters) if submission.keys else []
        for exercise, key in submission.keys.items():
            known = None if force else judging.known_marks(self._store, code, exercise)
            if known is not None and not (self._completing and known.awaits_gpu):
                submission.marks[key] = known
            elif key in waiting:
                waiting[key].append(submission)
            else:
                waiting[key] = [submission]
                earlier = None if known is None else known.to_json()
                yield Task(key, tuple(code), exercise, earlier)

    def _drain(
        self, ready: list[_Submission], results: list[GradedStudent]
    ) -> Iterator[GradedStudent]:
        while results:
            yield results.pop(0)
        while ready:
            yield self._write(ready.pop(0))

    def _read(self, student: str) -> _Submission:
        path = self._submitted() / student / self.assignment / f"{self.assignment}.ipynb"
        submission = _Submission(student, path)
        try:
            code = _code(path, self._masters)
        except (OSError, ValueError, GraderError) as error:
            submission.error = f"the notebook cannot be read: {error}"
            return submission
        submission.keys = {name: judging.mark_key(code, name) for name in self._exercises()}
        submission.digest = self._digest(path)
        return submission

    def _exercises(self) -> list[str]:
        names = [master.name for master in self._masters if master.grade]
        return [name.removesuffix("-public") for name in names if name.endswith("-public")]

    def _digest(self, path: Path) -> str:
        """What a finished grading depends on: the submission, the exercises, the judge."""
        digest = hashlib.sha256(path.read_bytes())
        when = path.with_name(TIMESTAMP)
        digest.update(when.read_bytes() if when.is_file() else b"")
        versions = (judge_version(), *map(exercise_version, self._exercises()))
        for part in (*versions, self.database, judging.mode()):
            digest.update(part.encode())
        for master in self._masters:
            digest.update(repr(master).encode())
        return digest.hexdigest()

    def _unchanged(self, submission: _Submission) -> bool:
        state = self._finished.get(submission.student)
        return (
            state.get("digest") == submission.digest
            and not state.get("reason")
            and not (self._completing and state.get("awaits_gpu"))
            and self.autograded(submission.student).is_file()
        )

    def _write(self, submission: _Submission) -> GradedStudent:
        """Let nbgrader write one submission, with the marks that were given."""
        if submission.error:
            return self._finish(submission, submission.error)
        judging.given.update(submission.marks)
        try:
            reason = self._nbgrader_autograde(submission.student)
        finally:
            judging.given.clear()
        reasons = [marks.reason for marks in submission.marks.values() if marks.reason]
        return self._finish(submission, reason or "; ".join(reasons))

    def _finish(self, submission: _Submission, reason: str) -> GradedStudent:
        awaits = any(marks.awaits_gpu for marks in submission.marks.values())
        state = {"digest": submission.digest, "reason": reason, "awaits_gpu": awaits}
        self._finished.put(submission.student, state)
        status = "ungraded" if reason else "graded"
        return GradedStudent(submission.student, status, reason, self._tampered(submission.student))

    def _tampered(self, student: str) -> tuple[str, ...]:
        try:
            written = json.loads(self.autograded(student).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ()
        return tuple(written["metadata"].get("tilewise", {}).get("tampered", ()))

    def autograded(self, student: str) -> Path:
        """The notebook that nbgrader wrote for the student."""
        folder = self.course / "autograded" / student / self.assignment
        return folder / f"{self.assignment}.ipynb"

    def _nbgrader_autograde(self, student: str) -> str:
        """nbgrader's own autograding of one student; returns why it failed, "" when not."""
        with warnings.catch_warnings(), engines.shared():
            warnings.simplefilter("ignore", SAWarning)  # nbgrader's own way with its sessions
            done = self._api.autograde(self.assignment, student)
        if done["success"]:
            return ""
        log = done.get("log") or done.get("error") or "nbgrader gave no reason"
        lines = [line for line in log.strip().splitlines() if line.strip()]
        errors = [line for line in lines if "Error" in line and "nbgrader" not in line]
        last = (errors or lines)[-1].strip()
        if "OperationalError" in last:  # SQLAlchemy's word for a database that is gone or full
            return f"the gradebook cannot be written; mend that and run again: {last}"
        return f"nbgrader could not write it: {last}"

    @cached_property
    def _api(self) -> Any:
        from nbgrader.apps.api import NbGraderAPI  # slow to import

        api = NbGraderAPI(config=self._config)
        api.log.setLevel("ERROR")
        return api

    def _find_masters(self) -> list[MasterCell]:
        nbgrader = {
            "assignment": self.assignment,
            "notebook": self.assignment,
            "db_url": self.database,
        }
        from nbgrader.api import MissingEntry

        try:
            return master_cells({"nbgrader": nbgrader}, _Place(self.course))
        except MissingEntry as error:
            raise GraderError(
                f"the gradebook does not know {self.assignment}: run `tilewise build` and "
                f"`nbgrader generate_assignment {self.assignment}` in {self.course}"
            ) from error
        except SQLAlchemyError as error:
            raise GraderError(
                f"the gradebook cannot be reached, so nothing was graded: {error}"
            ) from error

    def _submitted(self) -> Path:
        return self.course / "submitted"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One run at a time; the lock of a run that was killed is free."""
        self._finished.folder.mkdir(parents=True, exist_ok=True)
        with open(self._finished.folder.parent / "lock", "w", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise GraderError("another `tilewise autograde` works in this course") from error
            yield


def completes(judging_: Judging) -> bool:
    """Whether marks that await a GPU's verdict can get it in this run."""
    wanted = judging.mode()
    return wanted == "gpu" or (wanted == "all" and getattr(judging_, "has_gpu", False))


@dataclass(frozen=True)
class _Place:
    """As much of nbgrader's CourseDirectory as is needed to find the source notebooks."""

    root: Path
    source_directory: str = "source"


def load_config(course: Path, database: str | None) -> Any:
    """The configuration of the course in that folder; `database` overrides its gradebook."""
    from traitlets.config import PyFileConfigLoader

    path = course / "nbgrader_config.py"
    if not path.is_file():
        raise GraderError(f"{path} is missing: run `tilewise build`, or name the course folder")
    config = PyFileConfigLoader(str(path)).load_config()
    if database is not None:
        config.CourseDirectory.db_url = database
    return config


def _code(path: Path, masters: Sequence[MasterCell]) -> list[str]:
    """The code cells of a submitted notebook as nbgrader will see them after mending."""
    if path.stat().st_size > MAX_NOTEBOOK:
        raise GraderError(f"it has {path.stat().st_size / 1e6:,.0f} MB; nobody's notebook has")
    notebook = nbformat.reads(without_outputs(path.read_bytes()).decode(), as_version=4)
    mend(notebook, masters)
    return judging.code_of(notebook)
