"""Stock `nbgrader autograde` and `tilewise autograde` over the same notebooks, in one run.

    python benchmarks/classroom.py [--count 20] [--workers 2]

Both sides run the same judge with the hidden cases, in its sandbox, all gates on. Stock
nbgrader starts a kernel per notebook, one after another, and its grade cells ask a judge
process; ours asks warm judges in parallel. The gradebooks must agree.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from rich.console import Console
from rich.table import Table

from graders.authoring import class_folder
from graders.authoring.kernels import KnownKernel, correct_kernels, wrong_kernels
from graders.authoring.rooms import Rooms, find_root
from graders.grading.plugins.commands import Nbgrader

LESSON, EXERCISE = "vector_add", "vector_add"
STOCK = '\nget_config().pop("Autograde", None)  # stock preprocessors: Execute and the rest\n'


def kernels(rooms: Rooms, count: int) -> list[KnownKernel]:
    """`count` different submissions, correct and wrong in turn."""
    folder = rooms.kernels(EXERCISE)
    right = list(correct_kernels(folder).values())
    wrong = list(wrong_kernels(folder).values())
    mixed = [kernel for pair in zip(right, wrong, strict=False) for kernel in pair]
    rest = right[len(wrong) :] + wrong[len(right) :]
    return (mixed + rest)[:count]


def make_course(rooms: Rooms, folder: Path, submissions: dict[str, str]) -> str:
    """A course with its assignment generated and the submissions, code by student, handed in."""
    assignment = rooms.lesson_file(LESSON).stem
    class_folder.lay_out(rooms, folder, "benchmark", only=LESSON)
    Nbgrader().run(folder, "generate_assignment", assignment)
    released = folder / "release" / assignment / f"{assignment}.ipynb"
    for student, code in submissions.items():
        notebook = nbformat.read(released, as_version=4)
        # only what is graded: the lesson's own cells would be executed by stock nbgrader
        notebook.cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
        answer = next(cell for cell in notebook.cells if cell.id == EXERCISE)
        answer.source = code
        target = folder / "submitted" / student / assignment / f"{assignment}.ipynb"
        target.parent.mkdir(parents=True)
        target.write_text(json.dumps(notebook), encoding="utf-8")
    return assignment


def timed(command: list[str], folder: Path) -> float:
    """Seconds that a command takes; its output is shown when it fails."""
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        print(done.stdout[-3000:], done.stderr[-3000:], file=sys.stderr)
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
    return seconds


def gradebook(folder: Path, assignment: str) -> dict[str, dict[str, float | None]]:
    """The scores of the grade cells by student."""
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as found:
        return {
            submission.student.id: {
                grade.name: grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in found.assignment_submissions(assignment)
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    rooms = Rooms(find_root(Path(__file__)))
    with tempfile.TemporaryDirectory(prefix="tilewise-bench-") as temporary:
        stock, ours = Path(temporary) / "stock", Path(temporary) / "ours"
        chosen = kernels(rooms, options.count)
        submissions = {path.stem: path.read_text(encoding="utf-8") for path in chosen}
        assignment = make_course(rooms, ours, submissions)
        shutil.copytree(ours, stock)
        with open(stock / "nbgrader_config.py", "a", encoding="utf-8") as config:
            config.write(STOCK)
        python = sys.executable
        grade = [python, "-m", "graders.cli.main", "autograde", assignment]
        grade += ["--course", str(ours), "--workers", str(options.workers)]
        our_seconds = timed(grade, rooms.root)
        stock_seconds = timed([python, "-m", "nbgrader", "autograde", assignment], stock)
        again_seconds = timed(grade, rooms.root)
        same = gradebook(stock, assignment) == gradebook(ours, assignment)
    show(len(submissions), stock_seconds, our_seconds, again_seconds, same)
    sys.exit(0 if same else 1)


def show(count: int, stock: float, ours: float, again: float, same: bool) -> None:
    """One table; the baseline stands beside the result."""
    table = Table(title=f"{count} notebooks, hidden cases, all gates, sandbox on")
    for column in ("", "seconds", "seconds per submission", "of stock"):
        table.add_column(column, justify="left" if not column else "right")
    for name, seconds in (
        ("stock nbgrader autograde", stock),
        ("tilewise autograde", ours),
        ("tilewise autograde, nothing changed", again),
    ):
        table.add_row(name, f"{seconds:.1f}", f"{seconds / count:.2f}", f"{seconds / stock:.3f}")
    console = Console()
    console.print(table)
    console.print("The gradebooks are " + ("identical." if same else "NOT identical."))


if __name__ == "__main__":
    main()
