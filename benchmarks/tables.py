"""How long do a report and a table for an LMS take for a whole class?

    python benchmarks/tables.py [--count 500]

One submission is graded by the judge; the gradebook and the folder of the class then hold it once
for each student. What is timed: the report on the class (page and CSV), Canvas's table, and the
search for shared kernels. nbgrader's own export of the same gradebook stands beside them. Prints
seconds on the clock and of this process's processor; the search also works in another process.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from classroom import EXERCISE, kernels, make_course
from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin
from rich.console import Console
from rich.table import Table
from sqlalchemy.exc import SAWarning

from graders.authoring.rooms import Rooms, find_root
from graders.grading.autograde import Autograder
from graders.grading.class_report import class_report, to_html
from graders.grading.parallel import LocalProcesses
from graders.grading.plugins.export import CanvasExportPlugin
from graders.grading.report.tables import write_csv
from graders.grading.sharing import sharing
from graders.judge import discovery

FIRST = "s000"


def graded_class(folder: Path, count: int) -> str:
    """A class of `count` students with one submission each, all graded; the assignment's name."""
    code = kernels(Rooms(find_root()), 1)[0].text
    assignment = make_course(Rooms(find_root()), folder, {FIRST: code})
    (result,) = Autograder(folder, assignment).grade([FIRST], LocalProcesses(1))
    assert result.status == "graded", result
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        model = gradebook.find_submission(assignment, FIRST)
        (notebook,) = model.notebooks
        marks = {grade.name: grade.auto_score for grade in notebook.grades}
        for number in range(1, count):
            student = f"s{number:03}"
            gradebook.update_or_create_student(student)
            submission = gradebook.update_or_create_submission(assignment, student)
            for grade in submission.notebooks[0].grades:
                grade.auto_score, grade.needs_manual_grade = marks[grade.name], False
            for place in ("submitted", "autograded"):
                shutil.copytree(folder / place / FIRST, folder / place / student)
        gradebook.db.commit()
    return assignment


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def export(plugin: type, folder: Path) -> None:
    """Write one table of the gradebook."""
    exporter = plugin()
    exporter.to = str(folder / "grades.csv")
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        exporter.export(gradebook)


def main() -> None:
    warnings.simplefilter("ignore", SAWarning)  # nbgrader's own way with its sessions
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    count = parser.parse_args().count
    with tempfile.TemporaryDirectory(prefix="tilewise-tables-") as name:
        folder = Path(name) / "course"
        assignment = graded_class(folder, count)

        def report() -> None:
            found = class_report(folder, assignment, f"sqlite:///{folder / 'gradebook.db'}")
            (folder / "report.html").write_text(to_html(found), encoding="utf-8")
            write_csv(found, folder / "report.csv")

        table = Table("", "seconds", "of the processor", title=f"{count} submissions")
        for what, work in (
            ("nbgrader's own export", lambda: export(CsvExportPlugin, folder)),
            ("Canvas's table", lambda: export(CanvasExportPlugin, folder)),
            ("report, page and CSV", report),
            (
                "shared kernels",
                lambda: sharing(folder, assignment, [discovery.exercise(EXERCISE)]),
            ),
        ):
            table.add_row(what, *(f"{seconds:.1f}" for seconds in timed(work)))
        Console().print(table)
        Console().print(f"load of the machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
