"""Finds students whose kernels are equal after renaming, for the instructor to look at.

It does not say why they are equal: two students worked together, one copied, or the lesson allows
only one solution. So kernels that most of the class wrote, or that the lesson itself shows, are
listed separately. It compares digests, in time linear in the number of submissions.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from graders.grading.intake.handed_in import counting, in_order
from graders.judge.plain_text import plain
from graders.judge.records import Exercise
from graders.judge.submission.loading import Submission, kernels_in
from graders.judge.submission.refusals import SubmissionError
from graders.judge.submission.shapes import Shape

_KERNEL = "triton.jit"


@dataclass(frozen=True)
class Sharer:
    """A student, and where the kernels are in the submission."""

    student: str
    places: tuple[str, ...]


@dataclass(frozen=True)
class Shared:
    """Submissions to one exercise whose kernels are equal after renaming."""

    exercise: str
    sharers: tuple[Sharer, ...]
    text: str  # the kernels of the first submission
    taught: str  # why the lesson may be the reason; "" if it is not


@dataclass(frozen=True)
class Sharing:
    """The groups of an assignment; `unread` are students whose code cannot be compared."""

    groups: tuple[Shared, ...]
    read: int
    unread: tuple[str, ...]

    @property
    def asked(self) -> list[Shared]:
        """Return the groups that a person should look at."""
        return [group for group in self.groups if not group.taught]

    @property
    def taught(self) -> list[Shared]:
        return [group for group in self.groups if group.taught]


def sharing(course: Path, assignment: str, exercises: Sequence[Exercise]) -> Sharing:
    """Return the groups among all submissions of the assignment, the largest first."""
    lesson = _lesson(course / "source" / assignment / f"{assignment}.ipynb")
    folders = sorted((course / "submitted").glob(f"*/{assignment}"))
    groups: list[Shared] = []
    read: set[str] = set()
    for exercise in exercises:
        found = dict(_read(folders, assignment, exercise))
        read |= set(found)
        groups += _groups(exercise.name, found, lesson)
    students = [folder.parent.name for folder in folders]
    unread = tuple(student for student in students if student not in read)
    groups.sort(key=lambda group: (-len(group.sharers), group.exercise, group.sharers[0].student))
    return Sharing(tuple(groups), len(read), unread)


def _lesson(path: Path) -> set[str]:
    """Return the digests of all kernels in the lesson and its model solution."""
    try:
        return {shape.digest for shape in kernels_in(path)[1]}
    except SubmissionError:
        return set()


_Found = tuple[Submission, list[Shape]]


def _read(
    folders: Sequence[Path], assignment: str, exercise: Exercise
) -> Iterator[tuple[str, _Found]]:
    """Return the kernels by student; unreadable submissions and those without are left out."""
    for folder in folders:
        try:
            with _with_all_cells(counting(folder, assignment)) as path:
                submission, kernels = kernels_in(path, exercise)
        except SubmissionError:
            continue
        if kernels:
            yield folder.parent.name, (submission, kernels)


@contextmanager
def _with_all_cells(path: Path) -> Iterator[Path]:
    """Yield a copy of the notebook in which all cells with kernels are code cells.

    Grading turns a raw or text cell back into a code cell if the lesson has one there.
    """
    notebook = in_order(path)
    hidden = [c for c in notebook["cells"] if c["cell_type"] != "code" and _KERNEL in c["source"]]
    if path.suffix.lower() != ".ipynb" or not hidden:
        yield path
        return
    for cell in hidden:
        cell.pop("attachments", None)
        cell |= {"cell_type": "code", "outputs": [], "execution_count": None}
    with tempfile.TemporaryDirectory(prefix="tilewise-sharing-") as folder:
        whole = Path(folder, "notebook.ipynb")
        whole.write_text(json.dumps(notebook), encoding="utf-8")
        yield whole


def _groups(exercise: str, found: Mapping[str, _Found], lesson: set[str]) -> Iterator[Shared]:
    by_shape: dict[tuple[str, ...], list[str]] = {}
    for student, (_, kernels) in found.items():
        by_shape.setdefault(tuple(sorted(k.digest for k in kernels)), []).append(student)
    for shape, students in by_shape.items():
        if len(students) < 2:
            continue
        taught = ""
        if lesson.issuperset(shape):
            taught = "the lesson or its model solution has these kernels"
        elif 2 * len(students) > len(found):
            taught = "more than half of the class wrote them"
        text = "\n\n".join(plain(kernel.text) for kernel in found[students[0]][1])
        sharers = tuple(Sharer(student, _places(*found[student])) for student in students)
        yield Shared(exercise, sharers, text, taught)


def _places(submission: Submission, kernels: Sequence[Shape]) -> tuple[str, ...]:
    """Return the place of each kernel, such as "cell 7, lines 3 to 15"."""
    places = []
    for kernel in kernels:
        where, first = submission.locate(kernel.line)
        _, last = submission.locate(kernel.last_line)
        cell = f"{where}, " if where != "line" else ""
        places.append(f"{cell}lines {first} to {last}")
    return tuple(places)
