"""Gets marks for all exercises of a notebook, from the store if it has them, else the judge."""

from __future__ import annotations

import atexit
import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from nbformat.notebooknode import NotebookNode

from graders.grading import store
from graders.grading.intake.handed_in import bare_notebook
from graders.grading.marks import Marker, Marks, official_marker, unsandboxed_allowed
from graders.grading.own_tests.cells import judged_exercises
from graders.grading.store import MarksStore
from graders.judge.records import GraderError
from graders.judge.sandbox import folders
from triton_util.report import GateStatus

if TYPE_CHECKING:
    from graders.judge.runtime import Mode

STORE = Path(".tilewise") / "marks"  # in the course folder
MODE = "TILEWISE_MODE"  # interpret (the default), gpu or all: where kernels run
_marker: tuple[tuple[Mode, bytes | None], Marker] | None = None
_one_at_a_time = threading.Lock()  # a Dask worker may have several threads


def mode() -> Mode:
    """Return the instructor's choice of where kernels run; GraderError if it is unknown."""
    named = os.environ.get(MODE, "interpret")
    if named not in ("interpret", "gpu", "all"):
        raise GraderError(f"{MODE}={named!r} is no mode: use interpret, gpu or all")
    return cast("Mode", named)


def need_gpu() -> None:
    """Raise GraderError if the mode needs a GPU that is missing, before any work is done."""
    if mode() == "interpret":
        return
    from graders.judge.speed.limits import has_gpu  # imports torch: only if needed

    if not has_gpu():
        raise GraderError(
            f"there is no GPU here, which --mode {mode()} asks for: nothing was changed; grade "
            "with --mode interpret, or on a machine or cluster with one (--scheduler)"
        )


def warm_marker(secret: bytes | None = None) -> Marker:
    """Return this process's only marker; its warm processes serve all submissions.

    secret: the seed of the cases' numbers; by default this process makes one.
    """
    global _marker
    settings = mode(), secret
    if _marker is not None and _marker[0] != settings:
        close_marker()
    if _marker is None:
        _marker = settings, official_marker(mode(), secret)
        atexit.register(close_marker)
    return _marker[1]


def close_marker() -> None:
    """End this process's marker and its warm processes, if there is one."""
    global _marker
    if _marker is not None:
        _marker[1].close()
        _marker = None


def code_of(notebook: NotebookNode) -> list[str]:
    """Return the text of every cell that the judge reads, "" for the others.

    The others are grade cells, which are ours, and markdown. They keep their places, because
    messages give cell numbers.
    """
    return [
        cell.source if cell.cell_type == "code" and not _is_grade_cell(cell) else ""
        for cell in notebook.cells
    ]


def _is_grade_cell(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("grade", False))


def graded_exercises(notebook: NotebookNode) -> list[str]:
    """Return the exercises whose grade cells are in the fixed notebook, in order."""
    return judged_exercises(
        (cell.metadata["nbgrader"].get("grade_id", ""), cell.source)
        for cell in notebook.cells
        if _is_grade_cell(cell) and cell.cell_type == "code"
    )


def mark_code(
    code: list[str], exercise: str, marker: Marker, earlier: Marks | None = None
) -> Marks:
    """Ask the judge about the code cells of a notebook, or let it complete earlier marks."""
    with _one_at_a_time, folders.folder() as folder:
        path = folder / "submission.ipynb"
        path.write_text(json.dumps(bare_notebook(code)), encoding="utf-8")
        return marker.mark(path, exercise, earlier)


def mark_key(code: Sequence[str], exercise: str) -> str:
    """Return the store's key for the marks of this code."""
    return store.key(code, exercise, _terms(mode()))


def _terms(name: str) -> str:
    return f"{name} unsandboxed" if unsandboxed_allowed() else name


def _key_without_gpu(code: Sequence[str], exercise: str) -> str:
    """Return the key of marks that wait for a GPU, whose machine may have other libraries."""
    return store.key(code, exercise, _terms("without gpu"), store.sources_version(gpu=False))


def keep(marks_store: MarksStore, code: Sequence[str], exercise: str, marks: Marks) -> None:
    """Store marks for this mode; if no GPU has judged, also for a GPU machine to complete."""
    marks_store.put(mark_key(code, exercise), marks)
    if marks.report["gates"].get("gpu") == GateStatus.NOT_RUN:
        marks_store.put(_key_without_gpu(code, exercise), marks)


def known_marks(marks_store: MarksStore, code: Sequence[str], exercise: str) -> Marks | None:
    """Return the stored marks. If the mode needs a GPU, they may still wait for its verdict."""
    known = marks_store.get(mark_key(code, exercise))
    if known is None and mode() != "interpret":
        return marks_store.get(_key_without_gpu(code, exercise))
    return known


# Marks that another process has just given, by key; these are not judged again.
given: dict[str, Marks] = {}


def stored_or_judged(code: list[str], exercise: str, folder: Path) -> Marks:
    """Return the mark just given, else the one in `folder`'s store, else judge it here."""
    marks_store = MarksStore(folder)
    name = mark_key(code, exercise)
    known = given.get(name)
    if known is not None:
        return known
    known = known_marks(marks_store, code, exercise)
    if known is not None and (mode() == "interpret" or not known.awaits_gpu):
        return known
    fresh = mark_code(code, exercise, warm_marker(), known)
    keep(marks_store, code, exercise, fresh)
    return fresh
