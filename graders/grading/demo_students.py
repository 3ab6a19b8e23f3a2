"""A demo class, also for tests: it hands in good and bad work, as real classes do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nbformat.notebooknode import NotebookNode

from graders.authoring.kernels import correct_kernels, wrong_kernel
from graders.authoring.lesson import BEGIN, END, read_solutions
from graders.authoring.rooms import Rooms
from graders.judge.records import GraderError

Change = Callable[[NotebookNode], None]


@dataclass(frozen=True)
class Pupil:
    """One member of the class: a name, a description of the notebook, the edit that makes it."""

    name: str
    handed_in: str
    change: Change
    passes: bool


def class_of(rooms: Rooms, lesson: str, exercise: str) -> list[Pupil]:
    """Return ten pupils who hand in the lesson with that exercise."""
    solution = read_solutions(rooms.solutions / f"{lesson}.py")[exercise]
    right = _without_markers(solution)
    styles = [kernel.text for kernel in correct_kernels(rooms.kernels(exercise)).values()]
    unmasked = wrong_kernel(rooms, exercise, "missing_mask")
    wrong = wrong_kernel(rooms, exercise, "offset_ignores_pid")
    if not styles:
        raise GraderError(f"{exercise} has no correct kernel in tests/: the class needs two")

    def answers(code: str, *more: Change) -> Change:
        return lambda notebook: _answer(notebook, exercise, code, more)

    return [
        Pupil("ada", "the model solution", answers(right), True),
        Pupil("barbara", "another style", answers(styles[len(styles) // 2]), True),
        Pupil("edsger", "a third style", answers(styles[-1]), True),
        Pupil("grace", "right, all grade cells deleted", answers(right, _delete_grades), True),
        Pupil("jean", "right, all metadata lost", answers(right, _lose_metadata), True),
        Pupil("kurt", "every program does the first block", answers(wrong), False),
        Pupil("margaret", "the untouched stub", lambda notebook: None, False),
        Pupil("niklaus", "a syntax error", answers(right.replace("):", ")", 1)), False),
        Pupil(
            "alan",
            "an endless loop",
            answers(first_line(right, exercise, "while True: pass")),
            False,
        ),
        Pupil("tony", "reads and writes out of bounds", answers(unmasked), False),
    ]


def _without_markers(solution: str) -> str:
    lines = solution.split("\n")
    return "\n".join(line for line in lines if line.strip() not in (BEGIN, END))


def first_line(code: str, exercise: str, line: str) -> str:
    """Return the code with another first line in its launcher."""
    start = code.index(f"def {exercise}(")
    body = code.index(":\n", start) + 2
    return f"{code[:body]}    {line}\n{code[body:]}"


def _answer(notebook: NotebookNode, exercise: str, code: str, more: tuple[Change, ...]) -> None:
    cell = next(cell for cell in notebook.cells if cell.id == exercise)
    cell.source = code
    for change in more:
        change(notebook)


def _delete_grades(notebook: NotebookNode) -> None:
    notebook.cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type != "code" or not cell.metadata.get("nbgrader", {}).get("grade")
    ]


def _lose_metadata(notebook: NotebookNode) -> None:
    """Do what some editors do: remove metadata and cell ids, and rename the kernel."""
    for cell in notebook.cells:
        cell.metadata = NotebookNode()
        cell.pop("id", None)
    notebook.metadata = NotebookNode(
        {"kernelspec": {"name": "gpu-env", "display_name": "GPU", "language": "python"}}
    )
    notebook.nbformat_minor = 4
