"""Grade all submissions of an assignment: judged in parallel, written by nbgrader one by one.

Each result of the judge is cached at once (store.py). For each submission that nbgrader has
written, a digest of everything that it depends on is stored. So you can kill a run at any point
and start it again: it does only what is missing or has changed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from graders.grading import gradebooks, judging
from graders.grading.course_config import load_config
from graders.grading.finished import Finished
from graders.grading.intake.elsewhere import PAPERS, WORKS, other_files, refuse_untouched
from graders.grading.intake.handed_in import counting, in_order
from graders.grading.intake.sources import UnreadableFileError
from graders.grading.intake.timestamps import TIMESTAMP
from graders.grading.intake.unpacked import bring_up
from graders.grading.ledger.alone import alone
from graders.grading.ledger.settled import settle
from graders.grading.marks import Marks
from graders.grading.mend import MasterCell, mend
from graders.grading.own_tests import files
from graders.grading.own_tests.cells import judged_exercises, own_part
from graders.grading.parallel import Judging, Task
from graders.grading.plugins.preprocess import master_cells
from graders.grading.plugins.release import SECRET
from graders.grading.store import MarksStore
from graders.judge.plain_text import one_line
from graders.judge.records import GraderError
from graders.judge.submission.refusals import SubmissionError

LONGEST_REASON = 1_000  # characters
NOTES = (TIMESTAMP, SECRET)  # nbgrader writes them beside a notebook and reads them again
IN_ORDER = Path(".tilewise") / "in_order"  # in the course folder: what nbgrader reads


@dataclass(frozen=True)
class GradedStudent:
    """How one student's submission ended: graded, unchanged since last time, or ungraded."""

    student: str
    status: str  # "graded", "unchanged", "ungraded"
    reason: str = ""
    tampered: tuple[str, ...] = ()


@dataclass
class _Submission:
    """A submission that is being graded: its keys by exercise, and the marks so far.

    `path` is the cleaned copy, which any reader can parse.
    """

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
        self._config.CourseDirectory.submitted_directory = str(IN_ORDER)
        self._config.Autograde.pop("pre_convert_hook", None)  # the judge may run on another machine
        self._store = MarksStore(self.course / judging.STORE)
        self._finished = Finished(self.course, assignment)
        self._masters = self._find_masters()
        self._completing = False

    @property
    def database(self) -> str:
        """The gradebook's SQLAlchemy URL."""
        return str(self._config.CourseDirectory.db_url)

    def students(self, only: Sequence[str] = ()) -> list[str]:
        """Return all students who submitted, or those of them in `only`."""
        found = sorted(path.parent.name for path in self._submitted().glob(f"*/{self.assignment}"))
        missing = sorted(set(only) - set(found))
        if missing:
            raise GraderError(f"nothing submitted by {', '.join(missing)} for {self.assignment}")
        return [student for student in found if not only or student in only]

    def grade(
        self, students: Sequence[str], judging_: Judging, force: bool = False
    ) -> Iterator[GradedStudent]:
        """Grade new and changed submissions; yield each result as soon as it is there."""
        self._completing = completes(judging_)
        with alone(self.course):
            settle(self.course, self._config, [self.assignment])
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
            with suppress(GraderError, SQLAlchemyError):  # reading an account settles it, too
                settle(self.course, self._config, [self.assignment])

    def _tasks(
        self,
        students: Sequence[str],
        force: bool,
        waiting: dict[str, list[_Submission]],
        ready: list[_Submission],
        results: list[GradedStudent],
    ) -> Iterator[Task]:
        """Yield the tasks for the judge, one submission at a time; equal code only once."""
        for student in students:
            submission = self._read(student)
            if not force and not submission.error and self._unchanged(submission):
                results.append(GradedStudent(student, "unchanged"))
                continue
            missing = list(self._missing(submission, force, waiting))
            if submission.error or submission.complete:  # otherwise it waits for its marks
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
        """Return a student's submission, cleaned. An error in it affects this student only."""
        folder = self._submitted() / student / self.assignment
        path = self.course / IN_ORDER / student / self.assignment / f"{self.assignment}.ipynb"
        submission = _Submission(student, path)
        try:
            bring_up(folder, self.assignment)
            self._put_in_order(counting(folder, self.assignment), path)
            if self._has_own_tests:
                files.copy(folder, path.parent, NOTES)
            notebook = _fixed(path, self._masters)
            refuse_untouched(notebook, self._masters, self.course, self.assignment, student)
            code = judging.code_of(notebook)
            submission.keys = {name: judging.mark_key(code, name) for name in self._exercises()}
            submission.digest = self._digest(path, submission.keys)
        except SubmissionError as error:
            said = f"{error.finding.title}: {error.finding.message} {error.finding.next_step}"
            submission.error = f"the notebook cannot be graded: {said.strip()}"
        except UnicodeEncodeError:
            submission.error = "the name of the student's folder is no text"
        except UnreadableFileError as error:
            submission.error = f"the notebook cannot be read: {error}"
        except (RecursionError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            submission.error = (
                "the notebook cannot be read, because it is not built as Jupyter builds one "
                f"({type(error).__name__}: {one_line(str(error), 100)}): let the student open it "
                "in JupyterLab, save it, and hand it in again"
            )
        return submission

    @staticmethod
    def _put_in_order(handed_in: Path, path: Path) -> None:
        """Write a well-formed copy of the notebook to `path`, and copy nbgrader's notes."""
        text = json.dumps(in_order(handed_in), indent=1)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for note in NOTES:
            path.with_name(note).unlink(missing_ok=True)
            if handed_in.with_name(note).is_file():
                shutil.copyfile(handed_in.with_name(note), path.with_name(note))

    def _exercises(self) -> list[str]:
        return judged_exercises((m.name, m.source) for m in self._masters if m.grade)

    @cached_property
    def _has_own_tests(self) -> bool:
        tests = [m for m in self._masters if m.grade and not m.solution and m.cell_type == "code"]
        return any(own_part(test.name, test.source) for test in tests)

    def _digest(self, path: Path, keys: Mapping[str, str]) -> str:
        """Return a digest of what the grade depends on: the submission and its marks' keys."""
        digest = hashlib.sha256(path.read_bytes())
        for note in map(path.with_name, NOTES):
            digest.update(note.read_bytes() if note.is_file() else b"")
        for part in (*keys.values(), self.database, *self._beside(path.parent.parent.name)):
            digest.update(part.encode("utf-8", "replace"))
        for master in self._masters:
            digest.update(repr(master).encode())
        if self._has_own_tests:
            source = self.course / "source" / self.assignment
            digest.update(files.digest(source, path.parent).encode())
        return digest.hexdigest()

    def _beside(self, student: str) -> list[str]:
        """Return the student's other files that may contain the work."""
        return sorted(other_files(self.course, self.assignment, student, (*WORKS, *PAPERS)))

    def _unchanged(self, submission: _Submission) -> bool:
        state = self._finished.get(submission.student)
        return (
            state.get("digest") == submission.digest
            and not state.get("reason")
            and not (self._completing and state.get("awaits_gpu"))
            and self.autograded(submission.student).is_file()
        )

    def _write(self, submission: _Submission) -> GradedStudent:
        """Let nbgrader write one submission with its marks, and return how it ended.

        A broken environment stops the run; any other error affects this student only.
        """
        if submission.error:
            return self._finish(submission, submission.error)
        judging.given.update(submission.marks)
        try:
            reason = self._nbgrader_autograde(submission.student)
        except (OSError, GraderError, SQLAlchemyError):
            raise
        except Exception as error:
            reason = f"nbgrader could not write it: {type(error).__name__}: {error}"
        finally:
            judging.given.clear()
        reasons = [marks.reason for marks in submission.marks.values() if marks.reason]
        reasons += self._left_open(submission.student)
        return self._finish(submission, reason or "; ".join(reasons))

    def _finish(self, submission: _Submission, reason: str) -> GradedStudent:
        awaits = any(marks.awaits_gpu for marks in submission.marks.values())
        state = {"digest": submission.digest, "reason": reason, "awaits_gpu": awaits}
        self._finished.put(submission.student, state)
        status = "ungraded" if reason else "graded"
        why = one_line(reason, LONGEST_REASON)
        return GradedStudent(submission.student, status, why, self._tampered(submission.student))

    def _tampered(self, student: str) -> tuple[str, ...]:
        return tuple(self._noted(student).get("tampered", ()))

    def _left_open(self, student: str) -> list[str]:
        """Return why own tests have no points: each reason once, with its cells."""
        cells: dict[str, list[str]] = {}
        for name, reason in self._noted(student).get("open", {}).items():
            cells.setdefault(reason, []).append(name)
        return [f"{', '.join(names)}: {reason}" for reason, names in cells.items()]

    def _noted(self, student: str) -> dict[str, Any]:
        """Return the notes that grading wrote about a student's notebook."""
        try:
            written = json.loads(self.autograded(student).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return dict(written["metadata"].get("tilewise", {}))

    def autograded(self, student: str) -> Path:
        """Return the path of the notebook that nbgrader wrote for the student."""
        folder = self.course / "autograded" / student / self.assignment
        return folder / f"{self.assignment}.ipynb"

    def _nbgrader_autograde(self, student: str) -> str:
        """Run nbgrader's autograding for one student; return why it failed, or ""."""
        with warnings.catch_warnings(), gradebooks.shared():
            warnings.simplefilter("ignore", SAWarning)  # nbgrader's sessions cause it
            done = self._api.autograde(self.assignment, student)
        if done["success"]:
            return ""
        log = done.get("log") or done.get("error") or "nbgrader gave no reason"
        lines = [line for line in log.strip().splitlines() if line.strip()]
        errors = [line for line in lines if "Error" in line and "nbgrader" not in line]
        last = (errors or lines or ["nbgrader gave no reason"])[-1].strip()
        if "OperationalError" in last:  # SQLAlchemy's error for a missing database or a full disk
            return f"the gradebook cannot be written; fix that and run again: {last}"
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
            others = self._notebooks()
            if others:
                raise GraderError(
                    f"{self.assignment} has the notebooks {', '.join(others)}, and `tilewise "
                    f"autograde` grades assignments of one notebook with the assignment's name: "
                    f"use `nbgrader autograde {self.assignment}`, which gives the same marks"
                ) from error
            raise GraderError(
                f"the gradebook does not know {self.assignment}: run `nbgrader "
                f"generate_assignment {self.assignment} --force` in {self.course} (with the same "
                "--db, where you gave one)"
            ) from error
        except SQLAlchemyError as error:
            why = one_line(str(error), LONGEST_REASON)
            raise GraderError(
                f"the gradebook cannot be reached, so nothing was graded: {why}"
            ) from error

    def _notebooks(self) -> list[str]:
        """Return the names of this assignment's notebooks in the gradebook."""
        from nbgrader.api import Gradebook, MissingEntry

        with Gradebook(self.database) as gradebook:
            try:
                return sorted(n.name for n in gradebook.find_assignment(self.assignment).notebooks)
            except MissingEntry:
                return []

    def _submitted(self) -> Path:
        return self.course / "submitted"


def completes(judging_: Judging) -> bool:
    """Whether this run can complete marks that wait for a GPU's verdict."""
    wanted = judging.mode()
    return wanted == "gpu" or (wanted == "all" and getattr(judging_, "has_gpu", False))


@dataclass(frozen=True)
class _Place:
    """The part of nbgrader's CourseDirectory that is needed to find the source notebooks."""

    root: Path
    source_directory: str = "source"


def _code(path: Path, masters: Sequence[MasterCell]) -> list[str]:
    """Return a notebook's code cells in order, as nbgrader sees them after `mend`."""
    return judging.code_of(_fixed(path, masters))


def _fixed(path: Path, masters: Sequence[MasterCell]) -> NotebookNode:
    notebook = nbformat.from_dict(json.loads(path.read_text(encoding="utf-8")))
    mend(notebook, masters)
    return notebook
