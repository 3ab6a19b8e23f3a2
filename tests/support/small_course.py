"""A course of one small lesson, known to a gradebook, for tests that need no real judge."""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from graders.authoring import class_folder
from graders.authoring.rooms import Rooms, find_root
from graders.grading.marks import Marks, marks, ungraded_marks
from graders.grading.parallel import Judged, Task
from graders.judge import discovery
from graders.judge.pipeline import GATE_NAMES
from triton_util.report import Finding, GateStatus, Report, Verdict

LESSON = """\
# %% [markdown]
# # Adding two vectors

# %% setup

# %% exercise="vector_add"

# %% [markdown] case_study="contiguity" points=5
# Why does `x[:, :2]` fail?

# %% [markdown] model_answer="contiguity"
# Because its rows lie further apart than they are wide.
#
# **Rubric** 3 points for the row stride, 2 for the repair.
"""
ASSIGNMENT = "01_vector_add"
EXERCISE = discovery.exercise("vector_add")


@dataclass(frozen=True)
class SmallCourse:
    """The folder in which nbgrader works; `released` is the notebook that learners get."""

    folder: Path
    released: Path

    def hand_in(self, student: str, code: str, change: Callable[[Any], None] | None = None) -> Path:
        """Submit the released notebook with this code in the answer cell."""
        notebook = nbformat.read(self.released, as_version=4)
        next(cell for cell in notebook.cells if cell.id == "vector_add").source = code
        if change is not None:
            change(notebook)
        path = self.folder / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(notebook))
        return path


@functools.cache
def ask_alembic_once() -> None:
    """For every new gradebook nbgrader starts a process that says its newest version: seconds."""
    from nbgrader import api

    api.get_alembic_version = functools.cache(api.get_alembic_version)


def make(folder: Path, database: str | None = None) -> SmallCourse:
    """Build the course and let nbgrader generate and know its assignment."""
    from nbgrader.apps.api import NbGraderAPI
    from traitlets.config import PyFileConfigLoader

    ask_alembic_once()
    rooms = lesson_rooms(folder)
    course = folder / "course"
    class_folder.lay_out(rooms, course, "tilewise")
    config = PyFileConfigLoader(str(course / class_folder.CONFIG)).load_config()
    if database is not None:
        config.CourseDirectory.db_url = database
    done = NbGraderAPI(config=config).generate_assignment(ASSIGNMENT)
    assert done["success"], done
    released = course / "release" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    return SmallCourse(course, released)


def lesson_rooms(folder: Path) -> Rooms:
    """A clone of nothing but one lesson and its solution."""
    clone = Rooms(find_root(Path(__file__)))
    for name in ("lessons", "solutions"):
        (folder / name).mkdir()
    shutil.copy(clone.root / "pyproject.toml", folder)
    shutil.copy(clone.solutions / "vector_add.py", folder / "solutions")
    (folder / "lessons" / f"{ASSIGNMENT}.py").write_text(LESSON)
    return Rooms(folder)


class FakeJudging:
    """Judges by a word in the code: "right", "wrong" or "broken" (a fault of ours)."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, tasks: Iterable[Task]) -> Iterator[Judged]:
        for task in tasks:
            code = "\n".join(task.code)
            self.asked.append(code)
            yield task, fake_marks(code)


def fake_marks(code: str) -> Marks:
    """The marks that the fake judge gives."""
    if "broken" in code:
        return ungraded_marks(EXERCISE, "the disk is full")
    right = "right" in code
    full = EXERCISE.max_points
    finding = Finding(
        "interpret", "missing-mask", "No mask", "It reads outside.", line=3, next_step="Mask."
    )
    report = Report(
        "x", EXERCISE.name, Verdict.PASSED if right else Verdict.FAILED, full if right else 0,
        full, dict.fromkeys(GATE_NAMES, GateStatus.PASSED), () if right else (finding,), "A", 0.1,
        public_points=full if right else 0,
    )  # fmt: skip
    return marks(EXERCISE, report)
