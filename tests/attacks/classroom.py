"""A class of attackers, graded by the real command `nbgrader autograde`, and what became of it."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.attacks.attack import honest
from tests.support.small_course import ASSIGNMENT, SmallCourse, make

# nbgrader's own command, which waits for a line first: attacks may name its process id.
_NBGRADER = """
import sys
print("ready", flush=True)
sys.stdin.readline()
from nbgrader.apps.nbgraderapp import main
main()
"""
# The usual limits, 10 s for a case and 40 s for compiling, are too long to wait for here.
_SHORTER_LIMITS = """
from functools import partial
from graders.judge import runtime
from graders.judge.running import jobs
jobs.CASE_SECONDS = jobs.LARGE_CASE_SECONDS = 1.0
runtime.CompileWorker = partial(runtime.CompileWorker, cpu_seconds=3.0)
"""
_PR_SET_CHILD_SUBREAPER = 36
CONTROLS = ("a-first", "z-last")  # honest; graded before and after everybody else
RUN_SECONDS = 3600.0  # a busy machine takes ten times as long as a quiet one


class Command:
    """`nbgrader COMMAND …` in the course, started at once and let go by `run`."""

    def __init__(self, course: SmallCourse, *arguments: str) -> None:
        config = course.folder / "nbgrader_config.py"
        if _SHORTER_LIMITS not in config.read_text():
            config.write_text(config.read_text() + _SHORTER_LIMITS)
        self.log = course.folder.parent / f"{arguments[0]}.log"
        with open(self.log, "wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _NBGRADER, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=course.folder,
            )
        self.pid = self._process.pid
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def run(self, seconds: float) -> int:
        """Let it work; its exit status. What it says stands in `log`."""
        try:
            self._process.communicate(b"\n", timeout=seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        return self._process.returncode


@contextlib.contextmanager
def adopting() -> Iterator[None]:
    """Meanwhile this process becomes the parent of whatever process its descendants leave."""
    libc = ctypes.CDLL(None)
    assert libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def children() -> dict[int, str]:
    """The living children of this process, each with its command line."""
    found = {}
    for task in Path("/proc/self/task").iterdir():
        for pid in map(int, (task / "children").read_text().split()):
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            if command:  # a zombie has none
                found[pid] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


def reap(known: set[int]) -> None:
    """Collect the zombies among the adopted, so that none stays behind."""
    for task in Path("/proc/self/task").iterdir():
        for pid in map(int, (task / "children").read_text().split()):
            if pid not in known:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)


class Graded:
    """What nbgrader and the judge left: notebooks, scores, feedback."""

    def __init__(self, course: SmallCourse) -> None:
        from nbgrader.api import Gradebook

        self.course = course
        self.scores: dict[str, dict[str, float | None]] = {}
        with Gradebook(f"sqlite:///{course.folder / 'gradebook.db'}") as gradebook:
            self.max_score = float(gradebook.find_assignment(ASSIGNMENT).max_score)
            for submission in gradebook.assignment_submissions(ASSIGNMENT):
                self.scores[submission.student.id] = {
                    grade.name: grade.auto_score
                    for notebook in submission.notebooks
                    for grade in notebook.grades
                }

    def path(self, student: str) -> Path:
        folder = self.course.folder / "autograded" / student / ASSIGNMENT
        return folder / f"{ASSIGNMENT}.ipynb"

    def text(self, student: str) -> str:
        """The autograded notebook, as it lies on the disk; "" where there is none."""
        return self.path(student).read_text() if self.path(student).is_file() else ""

    def notebook(self, student: str) -> Any:
        return json.loads(self.text(student))

    def report(self, student: str) -> Any:
        """The judge's report that stands in the notebook."""
        return self.notebook(student)["metadata"]["tilewise"]["reports"]["vector_add"]

    def told(self, student: str) -> str:
        """What the student reads in the grade cells."""
        cells = [c for c in self.notebook(student)["cells"] if c["cell_type"] == "code"]
        outputs = [output for cell in cells for output in cell["outputs"]]
        return "".join("".join(output.get("text", "")) for output in outputs)

    def points(self, student: str) -> float | None:
        """The sum of what the judge gave; None where something of it is open."""
        scores = self.scores.get(student, {})
        given = [scores.get(f"vector_add-{part}") for part in ("public", "hidden")]
        return None if None in given else sum(score or 0.0 for score in given)

    def seconds(self) -> dict[str, float]:
        """How long each took, by the times at which their notebooks were written."""
        times = sorted((self.path(s).stat().st_mtime, s) for s in self.scores if self.text(s))
        return {s: t - before for (before, _), (t, s) in pairwise(times)}


@dataclass
class Run:
    """A class after `nbgrader autograde`: `left` are processes, `before` digests of all inputs."""

    graded: Graded
    status: int
    log: str
    left: dict[int, str]
    before: dict[Path, str]

    @property
    def course(self) -> SmallCourse:
        return self.graded.course


def autograde(folder: Path, hand_in: Callable[[SmallCourse, int], None]) -> Run:
    """Build a course in `folder`, let the class hand in, and grade it with nbgrader.

    `hand_in` gets the course and the id of nbgrader's process, which grades all of it.
    """
    course = make(folder)
    known = set(children())
    with adopting():
        command = Command(course, "autograde", ASSIGNMENT)
        for control in CONTROLS:
            course.hand_in(control, honest())
        hand_in(course, command.pid)
        before = inputs(course)
        status = command.run(RUN_SECONDS)
        left = {pid: line for pid, line in children().items() if pid not in known}
        reap(known)
    return Run(Graded(course), status, command.log.read_text(), left, before)


def feedback(run: Run) -> dict[str, str]:
    """The page of each student whose notebook was graded, made by nbgrader's own command."""
    command = Command(run.course, "generate_feedback", ASSIGNMENT)
    assert command.run(RUN_SECONDS) == 0, command.log.read_text()[-2000:]
    pages = (run.course.folder / "feedback").glob(f"*/{ASSIGNMENT}/{ASSIGNMENT}.html")
    return {page.parts[-3]: page.read_text() for page in pages}


def inputs(course: SmallCourse) -> dict[Path, str]:
    """Every file that nbgrader reads, with a digest of what it holds."""
    files = [*(course.folder / "source").rglob("*"), *(course.folder / "submitted").rglob("*")]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.is_file()}
