"""A class of 500 generated submissions: does it finish, stay flat in memory, keep its pace?

    python benchmarks/class_of_500.py [--count 500] [--workers 2]

Right and wrong kernels in turn, each made different by a comment, so that none is judged
twice. Prints the pace of the first and of the last hundred and the parent's peak memory.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

from classroom import gradebook, kernels, make_course
from rich.console import Console
from rich.table import Table

from graders.classroom.autograde import Autograder
from graders.classroom.parallel import LocalProcesses
from graders.classroom.rooms import Rooms, find_root

MAX_PARENT_GIB = 1.0


def generated(rooms: Rooms, count: int) -> dict[str, str]:
    """Code by student: the kernels of the course in turn, no two the same."""
    chosen = [path.read_text(encoding="utf-8") for path in kernels(rooms, 1000)]
    return {
        f"student-{number:04d}": f"{chosen[number % len(chosen)]}\n# notebook {number}\n"
        for number in range(count)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    rooms = Rooms(find_root(Path(__file__)))
    with tempfile.TemporaryDirectory(prefix="tilewise-bench-") as temporary:
        course = Path(temporary)
        assignment = make_course(rooms, course, generated(rooms, options.count))
        grader = Autograder(course, assignment)
        students, times, ungraded = grader.students(), [time.perf_counter()], 0
        for result in grader.grade(students, LocalProcesses(options.workers)):
            times.append(time.perf_counter())
            ungraded += result.status == "ungraded"
        rows = len(gradebook(course, assignment))
    show(times, ungraded, rows)
    sys.exit(0 if rows == options.count and not ungraded else 1)


def show(times: list[float], ungraded: int, rows: int) -> None:
    """Pace and memory."""
    count = len(times) - 1
    part = max(1, min(100, count // 5))
    # the first ones wait for the workers to start: the pace is taken once they are warm
    warm = min(part, count // 5)
    first = (times[warm + part] - times[warm]) / part
    last = (times[-1] - times[-1 - part]) / part
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    table = Table(title=f"{count} submissions, {ungraded} ungraded, {rows} in the gradebook")
    for column in ("", "measured", "bar"):
        table.add_column(column, justify="left" if not column else "right")
    table.add_row("whole run", f"{times[-1] - times[0]:.0f} s", "")
    table.add_row("seconds per submission, early", f"{first:.2f}", "")
    table.add_row("seconds per submission, late", f"{last:.2f}", f"at most {1.1 * first:.2f}")
    table.add_row("peak memory of the parent", f"{peak:.2f} GiB", f"{MAX_PARENT_GIB:.2f} GiB")
    Console().print(table)


if __name__ == "__main__":
    main()
