"""From a lesson to its two notebooks: the learner's and the instructor's (nbgrader's source)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

import nbformat
from nbformat.notebooknode import NotebookNode

from graders.authoring.grade_cells import hidden_id, hidden_points, public_id, public_points
from graders.authoring.lesson import Lesson, LessonCell, LessonError, stub
from graders.authoring.rooms import Rooms
from graders.authoring.setup_cell import BADGE_ID, FOLDED, badge, imports_source, setup_source
from graders.authoring.unanswered import ANSWER_STUB
from graders.judge import discovery
from graders.judge.records import Exercise

Part = Literal["public", "hidden"]
# Public cases run when learners validate their notebook, hidden ones only in grading.
_VISIBLE: Mapping[Part, str] = {
    "public": """`nbgrader validate` runs them here.
import triton_util

triton_util.validate("{exercise}")
""",
    "hidden": "They run when your instructor grades.",
}
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class NotebookBuilder:
    """Builds the notebooks of one lesson. `solutions` are the model solutions by exercise."""

    def __init__(self, rooms: Rooms, lesson: Lesson, solutions: Mapping[str, str]) -> None:
        self._settings = rooms.settings()
        self._lesson = lesson
        self._solutions = solutions
        self._exercises = {name: self._exercise(name) for name in lesson.names("exercise")}

    def learner(self) -> NotebookNode:
        """Stubs, checks and questions: the notebook that is committed and that Colab opens."""
        return self._notebook(instructor=False)

    def source(self) -> NotebookNode:
        """nbgrader's source: solutions, grade cells, model answers."""
        return self._notebook(instructor=True)

    def _exercise(self, name: str) -> Exercise:
        if name not in self._solutions:
            where = f"solutions/{self._lesson.slug}.py"
            raise LessonError(
                self._lesson.path, f"exercise {name!r} has no cell `# %% {name}` in {where}"
            )
        try:
            return discovery.exercise(name)
        except KeyError as error:
            raise LessonError(self._lesson.path, str(error.args[0])) from error

    def _notebook(self, instructor: bool) -> NotebookNode:
        cells: list[NotebookNode] = []
        for index, cell in enumerate(self._lesson.cells):
            cells += self._cells(f"{self._lesson.slug[:40]}-{index:02d}", cell, instructor)
        first = next(i for i, cell in enumerate(cells) if cell.cell_type == "markdown")
        link = _markdown(BADGE_ID, badge(self._settings, self._lesson.stem))
        cells.insert(first + 1, link)
        notebook = nbformat.v4.new_notebook(cells=cells, metadata=METADATA)
        notebook.nbformat_minor = 5
        nbformat.validate(notebook)
        return notebook

    def _cells(self, cell_id: str, cell: LessonCell, instructor: bool) -> list[NotebookNode]:
        if cell.kind == "model_answer":
            return []
        if cell.kind == "markdown":
            return [_markdown(cell_id, cell.source)]
        if cell.kind == "setup":
            setup = _code(cell_id, setup_source(self._settings))
            setup.metadata.update(FOLDED)
            return [setup, _code(f"{cell_id}-imports", imports_source(cell.source))]
        if cell.kind == "exercise":
            return self._exercise_cells(cell.name, instructor)
        if cell.kind == "case_study":
            return self._case_study_cells(cell_id, cell, instructor)
        return [_code(cell_id, cell.source, ["gpu"] if cell.kind == "gpu" else [])]

    def _exercise_cells(self, name: str, instructor: bool) -> list[NotebookNode]:
        solution, check = self._solutions[name], _code(f"{name}-check", f"check({name})")
        if not instructor:
            return [_code(name, stub(solution)), check]
        exercise = self._exercises[name]
        answer = _graded(_code(name, solution), solution=True)
        public = _code(public_id(name), _grade_source(name, "public", public_points(exercise)))
        hidden = _code(hidden_id(name), _grade_source(name, "hidden", hidden_points(exercise)))
        return [
            answer,
            check,
            _graded(public, points=public_points(exercise)),
            _graded(hidden, points=hidden_points(exercise)),
        ]

    def _case_study_cells(
        self, cell_id: str, cell: LessonCell, instructor: bool
    ) -> list[NotebookNode]:
        question = _markdown(cell_id, cell.source)
        if not instructor:
            return [question, _markdown(cell.name, ANSWER_STUB)]
        answer = _markdown(cell.name, self._lesson.model_answer(cell.name))
        return [question, _graded(answer, solution=True, points=cell.points)]


def to_text(notebook: NotebookNode) -> str:
    """The notebook as text; two builds of the same lesson give identical text."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _grade_source(exercise: str, part: Part, points: int) -> str:
    """A grade cell. Learners get only the part before the hidden tests."""
    return (
        f"# {exercise}, {part} cases: {points} points. {_VISIBLE[part].format(exercise=exercise)}\n"
        "### BEGIN HIDDEN TESTS\n"
        "from graders.grading.plugins.cell import grade_cell\n\n"
        f'grade_cell("{exercise}", part="{part}")\n'
        "### END HIDDEN TESTS"
    )


def _graded(cell: NotebookNode, solution: bool = False, points: int | None = None) -> NotebookNode:
    metadata: dict[str, Any] = {
        "schema_version": 3,
        "grade_id": cell.id,
        "grade": points is not None,
        "solution": solution,
        "locked": not solution,
        "task": False,
    }
    if points is not None:
        metadata["points"] = points
    cell.metadata["nbgrader"] = metadata
    return cell


def _code(cell_id: str, source: str, tags: list[str] | None = None) -> NotebookNode:
    metadata = {"tags": tags} if tags else {}
    return nbformat.v4.new_code_cell(source, id=cell_id, metadata=metadata)


def _markdown(cell_id: str, source: str) -> NotebookNode:
    return nbformat.v4.new_markdown_cell(source, id=cell_id)
