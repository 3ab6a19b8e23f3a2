"""Whose kernels are equal after renaming: a question to the instructor, never a verdict.

Equal kernels say that they are equal, not why: two who sat together, one who copied, or a lesson
that leaves one way to write it. So what most of a class wrote, and what the lesson itself shows,
is listed apart. Reading is linear in the number of submissions: equal is equal digests.
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
    """A student, and where the kernels stand in what was handed in."""

    student: str
    places: tuple[str, ...]


@dataclass(frozen=True)
class Shared:
    """Submissions to one exercise whose kernels are equal after renaming."""

    exercise: str
    sharers: tuple[Sharer, ...]
    text: str  # the kernels of the first of them
    taught: str  # why that may be the lesson's doing; "" where nothing speaks for it


@dataclass(frozen=True)
class Sharing:
    """What was found in an assignment; `unread` are those whose code cannot be compared."""

    groups: tuple[Shared, ...]
    read: int
    unread: tuple[str, ...]

    @property
    def asked(self) -> list[Shared]:
        """The groups that a person should look at."""
        return [group for group in self.groups if not group.taught]

    @property
    def taught(self) -> list[Shared]:
        return [group for group in self.groups if group.taught]


def sharing(course: Path, assignment: str, exercises: Sequence[Exercise]) -> Sharing:
    """The groups among all submissions of that assignment, the largest first."""
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
    """The digests of all kernels that the lesson and its model solution hold."""
    try:
        return {shape.digest for shape in kernels_in(path)[1]}
    except SubmissionError:
        return set()


_Found = tuple[Submission, list[Shape]]


def _read(
    folders: Sequence[Path], assignment: str, exercise: Exercise
) -> Iterator[tuple[str, _Found]]:
    """The kernels by student; who cannot be read, or wrote none, is left out."""
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
    """The notebook with its kernels in code cells, whatever kind of cell they are in.

    Grading makes a raw or text cell a code cell again where the lesson has one, so it is read.
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
    """ "cell 7, lines 3 to 15", for each kernel."""
    places = []
    for kernel in kernels:
        where, first = submission.locate(kernel.line)
        _, last = submission.locate(kernel.last_line)
        cell = f"{where}, " if where != "line" else ""
        places.append(f"{cell}lines {first} to {last}")
    return tuple(places)
