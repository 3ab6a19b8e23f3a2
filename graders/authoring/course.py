"""Build the course: the learners' notebooks, and the folder that nbgrader works in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graders.authoring.lesson import Lesson, LessonError, read_lesson, read_solutions
from graders.authoring.notebook import NotebookBuilder, to_text
from graders.authoring.rooms import COURSE_ID, Rooms
from graders.judge.records import GraderError
from triton_util.notebook.given import fingerprint

_CONFIG = '''\
"""nbgrader's configuration of the course. Written by `tilewise build`: change it there.

Run nbgrader in this folder. TILEWISE_EXCHANGE and TILEWISE_DB override where the exchange
and the gradebook are; nbgrader's own options on the command line override everything.
"""

import os
from pathlib import Path

from graders.grading.plugins.configure import configure

configure(
    get_config(),  # noqa: F821 - nbgrader defines it
    root=Path(__file__).resolve().parent,
    course_id="{course_id}",
    exchange=os.environ.get("TILEWISE_EXCHANGE"),
    database=os.environ.get("TILEWISE_DB"),
)
'''


@dataclass(frozen=True)
class Built:
    """One file that the build makes."""

    path: Path
    text: str
    committed: bool = False


def built_lesson(rooms: Rooms, path: Path) -> tuple[Built, Built | None]:
    """The learner's notebook of a lesson, and nbgrader's source where there is something graded."""
    lesson = read_lesson(path)
    builder = NotebookBuilder(rooms, lesson, _solutions(rooms, lesson))
    learner = Built(path.with_suffix(".ipynb"), to_text(builder.learner()), committed=True)
    if not lesson.names("exercise") and not lesson.names("case_study"):
        return learner, None
    place = rooms.course / "source" / lesson.stem / f"{lesson.stem}.ipynb"
    return learner, Built(place, to_text(builder.source()))


def _solutions(rooms: Rooms, lesson: Lesson) -> dict[str, str]:
    if not lesson.names("exercise"):
        return {}
    return read_solutions(rooms.solutions / f"{lesson.slug}.py")


def order_file(rooms: Rooms) -> Built:
    """The order of the lessons, for the judge of a learner, who has no lessons room."""
    stems = [path.stem for path in rooms.lesson_files()]
    return Built(rooms.order, json.dumps(stems, indent=1) + "\n", committed=True)


def lesson_cells_file(rooms: Rooms) -> Built:
    """What the code cells of each lesson hold: so the judge knows what a learner left as it was.

    A lesson that cannot be built is left out; its error is told where it is built.
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
    return Built(rooms.lesson_cells, json.dumps(known, indent=1) + "\n", committed=True)


def model_answers_file(rooms: Rooms) -> Built:
    """The model answers of all case studies: a learner opens one when an answer is written.

    A lesson that cannot be read is left out; its error is told where it is built.
    """
    known: dict[str, str] = {}
    for path in rooms.lesson_files():
        try:
            lesson = read_lesson(path)
        except LessonError:
            continue
        known.update((name, lesson.model_answer(name)) for name in lesson.names("case_study"))
    text = json.dumps(known, indent=1, ensure_ascii=False, sort_keys=True)
    return Built(rooms.model_answers, text + "\n", committed=True)


def config_file(course: Path) -> Built:
    """nbgrader's configuration of a course in that folder."""
    return Built(course / "nbgrader_config.py", _CONFIG.format(course_id=COURSE_ID))


def built_course(rooms: Rooms, only: str | None = None) -> Iterator[Built]:
    """Every file of the build; `only` one lesson where a slug is given.

    A lesson that cannot be built does not keep the others from it: its error comes last.
    """
    paths = [rooms.lesson_file(only)] if only else rooms.lesson_files()
    yield config_file(rooms.course)
    yield order_file(rooms)
    yield lesson_cells_file(rooms)
    yield model_answers_file(rooms)
    errors = []
    for path in paths:
        try:
            yield from (built for built in built_lesson(rooms, path) if built is not None)
        except LessonError as error:
            errors.append(error)
    if errors:
        raise GraderError("\n".join(str(error) for error in errors))


def build(rooms: Rooms, only: str | None = None) -> Iterator[Path]:
    """Write what changed, and yield each path written; nothing is removed after an error."""
    files = []
    for file in built_course(rooms, only):
        files.append(file)
        if not _fresh(file):
            file.path.parent.mkdir(parents=True, exist_ok=True)
            file.path.write_text(file.text, encoding="utf-8")
            yield file.path
    if only is None:
        _remove_orphans(rooms, {file.path for file in files})


def stale(rooms: Rooms, only: str | None = None) -> list[Path]:
    """The committed files that are not what a build would make now."""
    files = [file for file in built_course(rooms, only) if file.committed]
    orphans = []
    if only is None:
        known = {file.path for file in files}
        orphans = [path for path in sorted(rooms.lessons.glob("*.ipynb")) if path not in known]
    return [file.path for file in files if not _fresh(file)] + orphans


def _fresh(file: Built) -> bool:
    return file.path.is_file() and file.path.read_text(encoding="utf-8") == file.text


def _remove_orphans(rooms: Rooms, known: set[Path]) -> None:
    for folder in sorted((rooms.course / "source").glob("*/")):
        if not any(path.parent == folder for path in known):
            shutil.rmtree(folder)
