"""Read a lesson and its model solutions: percent text in, typed cells out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import jupytext

from graders.authoring.measured import MarkError, with_figures
from graders.authoring.rooms import slug_of
from graders.authoring.unanswered import STUB
from graders.judge.records import GraderError

Kind = Literal["markdown", "code", "setup", "gpu", "exercise", "case_study", "model_answer"]
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
NAMED: tuple[Kind, ...] = ("exercise", "case_study", "model_answer")
# metadata that jupytext needs only to write a file back unchanged
LAYOUT = frozenset({"lines_to_next_cell", "lines_to_end_of_cell_marker", "cell_marker"})
NAME = re.compile(r"[a-z][a-z0-9_-]*\Z")


class LessonError(GraderError):
    """An author's mistake: names the file and the fix."""

    def __init__(self, path: Path, fix: str) -> None:
        super().__init__(f"{path.parent.name}/{path.name}: {fix}")


@dataclass(frozen=True)
class LessonCell:
    """One cell of a lesson. `name` and `points` belong to the special kinds only."""

    kind: Kind
    source: str
    name: str = ""
    points: int = 0


@dataclass(frozen=True)
class Lesson:
    """One lesson as it was written, before solutions are put in."""

    path: Path
    cells: tuple[LessonCell, ...]

    @property
    def slug(self) -> str:
        return slug_of(self.path)

    @property
    def stem(self) -> str:
        """The number and the slug: the name of the notebook and of nbgrader's assignment."""
        return self.path.stem

    @property
    def title(self) -> str:
        """The first heading."""
        for cell in self.cells:
            found = re.search(r"^# +(.+)$", cell.source, re.MULTILINE)
            if cell.kind == "markdown" and found:
                return found.group(1).strip()
        raise LessonError(self.path, "the first cell needs a heading, `# # Title`")

    def names(self, kind: Kind) -> list[str]:
        return [cell.name for cell in self.cells if cell.kind == kind]

    def model_answer(self, case_study: str) -> str:
        """Model answer and rubric of a case study."""
        for cell in self.cells:
            if cell.kind == "model_answer" and cell.name == case_study:
                return cell.source
        raise LessonError(
            self.path,
            f"case study {case_study!r} has no model answer: add a cell "
            f'`# %% [markdown] model_answer="{case_study}"` with the answer and a **Rubric**',
        )


def read_lesson(path: Path) -> Lesson:
    """Parse one lesson; a LessonError names the problem and the fix."""
    try:
        text = with_figures(path.read_text(encoding="utf-8"), path.parent.parent)
    except MarkError as error:
        raise LessonError(path, str(error)) from error
    notebook = jupytext.reads(text, fmt="py:percent")
    lesson = Lesson(path, tuple(_cell(path, cell) for cell in notebook.cells))
    _check(lesson)
    return lesson


def _cell(path: Path, cell: Any) -> LessonCell:
    metadata = {key: value for key, value in cell.metadata.items() if key not in LAYOUT}
    title = metadata.pop("title", "")
    for kind in NAMED:
        if kind in metadata:
            return _named(path, kind, metadata, cell.source)
    if metadata:
        unknown = ", ".join(sorted(metadata))
        raise LessonError(
            path, f"unknown cell metadata {unknown}: known are {', '.join(NAMED)}, points"
        )
    if title in ("setup", "gpu"):
        return LessonCell(title, cell.source)
    if title:
        raise LessonError(path, f"unknown kind of cell `# %% {title}`: known are setup and gpu")
    return LessonCell("code" if cell.cell_type == "code" else "markdown", cell.source)


def _named(path: Path, kind: Kind, metadata: dict[str, Any], source: str) -> LessonCell:
    name, points = metadata[kind], metadata.get("points", 0)
    if not isinstance(name, str) or not NAME.match(name):
        raise LessonError(path, f"{kind}={name!r} is no name: use small letters, digits, - and _")
    if kind == "case_study" and (not isinstance(points, int) or points < 1):
        raise LessonError(path, f"case study {name!r} needs its points: `points=5` behind the name")
    if kind == "exercise" and source.strip():
        raise LessonError(
            path,
            f"the cell of exercise {name!r} must be empty: the builder fills it from "
            f"solutions/{slug_of(path)}.py",
        )
    return LessonCell(kind, source, name, points)


def _check(lesson: Lesson) -> None:
    code = [cell for cell in lesson.cells if cell.kind not in ("markdown", "model_answer")]
    if not code or code[0].kind != "setup":
        raise LessonError(lesson.path, "the first code cell must be `# %% setup`")
    if sum(cell.kind == "setup" for cell in code) > 1:
        raise LessonError(lesson.path, "there must be one `# %% setup` cell only")
    for kind in NAMED:
        names = lesson.names(kind)
        for name in {name for name in names if names.count(name) > 1}:
            raise LessonError(lesson.path, f'{kind}="{name}" stands twice: rename one')
    orphans = set(lesson.names("model_answer")) - set(lesson.names("case_study"))
    for name in sorted(orphans):
        raise LessonError(lesson.path, f"model_answer={name!r} belongs to no case study")
    for name in lesson.names("case_study"):
        if "**Rubric" not in lesson.model_answer(name):
            raise LessonError(
                lesson.path, f"the model answer of {name!r} needs a paragraph that says **Rubric**"
            )


def read_solutions(path: Path) -> dict[str, str]:
    """The model solutions of a lesson by exercise name, each with its solution regions.

    A cell without a title before the first titled one contains the imports and is left out.
    Every other cell is one exercise, with everything that the exercise needs.
    """
    if not path.is_file():
        raise LessonError(path, "is missing: every lesson with an exercise has its solutions there")
    notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    solutions: dict[str, str] = {}
    for cell in notebook.cells:
        name = cell.metadata.get("title")
        if name is None or cell.cell_type != "code":
            continue
        if name in solutions:
            raise LessonError(path, f"`# %% {name}` stands twice: rename one")
        solutions[name] = _checked_regions(path, name, cell.source)
    return solutions


def _checked_regions(path: Path, name: str, source: str) -> str:
    markers = re.findall(r"### (BEGIN|END) SOLUTION", source)
    if not markers or markers != ["BEGIN", "END"] * (len(markers) // 2):
        raise LessonError(
            path, f"`# %% {name}` needs regions of `{BEGIN}` and `{END}`, in turns, not nested"
        )
    return source


def stub(solution: str) -> str:
    """The solution with each of its regions replaced by the stub, at the same indentation."""
    return "\n".join(_stub_lines(solution.split("\n")))


def _stub_lines(lines: Iterable[str]) -> Iterable[str]:
    inside = False
    for line in lines:
        text = line.strip()
        if text == BEGIN:
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            yield from (indent + part for part in STUB)
        elif text == END:
            inside = False
        elif not inside:
            yield line


def solution_lines(solution: str) -> list[str]:
    """The lines that only the solution has, stripped; none may reach a learner."""
    inside, found = False, []
    for line in solution.split("\n"):
        text = line.strip()
        if text in (BEGIN, END):
            inside = text == BEGIN
        elif inside and text:
            found.append(text)
    return found
