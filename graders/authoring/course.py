"""Build the course: the learners' notebooks, and the sources of nbgrader's assignments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graders.authoring.lesson import Lesson, LessonError, read_lesson, read_solutions
from graders.authoring.notebook import NotebookBuilder, to_text
from graders.authoring.pictures import add_pictures
from graders.authoring.rooms import Rooms
from graders.judge.records import GraderError
from triton_util.notebook.given import fingerprint


@dataclass(frozen=True)
class Built:
    """One file that the build makes."""

    path: Path
    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def learners_notebook(rooms: Rooms, path: Path) -> Built:
    """The learners' notebook of a lesson; it is beside its source and is committed."""
    notebook, built = _builder(rooms, path)[1].learner(), path.with_suffix(".ipynb")
    add_pictures(notebook, built)
    return Built(built, to_text(notebook))


def assignment(rooms: Rooms, path: Path, folder: Path) -> Built | None:
    """nbgrader's source of a lesson, for the folder `source` of a class.

    None if nothing in the lesson is graded.
    """
    lesson, builder = _builder(rooms, path)
    if not lesson.names("exercise") and not lesson.names("case_study"):
        return None
    return Built(folder / lesson.stem / f"{lesson.stem}.ipynb", to_text(builder.source()))


def assignments(rooms: Rooms, folder: Path, only: str | None = None) -> Iterator[Built]:
    """The sources of all lessons with graded cells; `only` one if it is named."""
    for path in [rooms.lesson_file(only)] if only else rooms.lesson_files():
        built = assignment(rooms, path, folder)
        if built is not None:
            yield built


def _builder(rooms: Rooms, path: Path) -> tuple[Lesson, NotebookBuilder]:
    lesson = read_lesson(path)
    return lesson, NotebookBuilder(rooms, lesson, _solutions(rooms, lesson))


def _solutions(rooms: Rooms, lesson: Lesson) -> dict[str, str]:
    if not lesson.names("exercise"):
        return {}
    return read_solutions(rooms.solutions / f"{lesson.slug}.py")


def order_file(rooms: Rooms) -> Built:
    """The order of the lessons, for a learner's judge, which has no `lessons` folder."""
    stems = [path.stem for path in rooms.lesson_files()]
    return Built(rooms.order, json.dumps(stems, indent=1) + "\n")


def lesson_cells_file(rooms: Rooms) -> Built:
    """The text of each lesson's code cells, so that the judge knows which cells are unchanged.

    A lesson that cannot be built is left out; building the lesson reports its error.
    """
    known: dict[str, list[str]] = {}
    for path in rooms.lesson_files():
        try:
            lesson = read_lesson(path)
            learner = NotebookBuilder(rooms, lesson, _solutions(rooms, lesson)).learner()
        except LessonError:
            continue
        code = [cell.source for cell in learner.cells if cell.cell_type == "code"]
        known[lesson.slug] = sorted(map(fingerprint, code))
    return Built(rooms.lesson_cells, json.dumps(known, indent=1) + "\n")


def model_answers_file(rooms: Rooms) -> Built:
    """The model answers of all case studies; a learner can open one after writing an answer.

    A lesson that cannot be read is left out; building the lesson reports its error.
    """
    known: dict[str, str] = {}
    for path in rooms.lesson_files():
        try:
            lesson = read_lesson(path)
        except LessonError:
            continue
        known.update((name, lesson.model_answer(name)) for name in lesson.names("case_study"))
    text = json.dumps(known, indent=1, ensure_ascii=False, sort_keys=True)
    return Built(rooms.model_answers, text + "\n")


def built_course(rooms: Rooms, only: str | None = None) -> Iterator[Built]:
    """Every file of the build; `only` one lesson if a slug is given.

    A lesson that cannot be built does not stop the others: its error is raised last.
    """
    paths = [rooms.lesson_file(only)] if only else rooms.lesson_files()
    yield order_file(rooms)
    yield lesson_cells_file(rooms)
    yield model_answers_file(rooms)
    errors = []
    for path in paths:
        try:
            yield learners_notebook(rooms, path)
        except LessonError as error:
            errors.append(error)
    if errors:
        raise GraderError("\n".join(str(error) for error in errors))


def build(rooms: Rooms, only: str | None = None) -> Iterator[Path]:
    """Write the files that changed, and yield each path written."""
    for file in built_course(rooms, only):
        if not _fresh(file):
            file.path.parent.mkdir(parents=True, exist_ok=True)
            file.path.write_text(file.text, encoding="utf-8")
            yield file.path


def stale(rooms: Rooms, only: str | None = None) -> list[Path]:
    """The built files that differ from what a build would make now."""
    files = list(built_course(rooms, only))
    orphans = []
    if only is None:
        known = {file.path for file in files}
        orphans = [path for path in sorted(rooms.lessons.glob("*.ipynb")) if path not in known]
    return [file.path for file in files if not _fresh(file)] + orphans


def _fresh(file: Built) -> bool:
    return file.path.is_file() and file.path.read_text(encoding="utf-8") == file.text
