"""A class of 500 generated submissions: does it finish, stay flat in memory, keep its pace?

    python benchmarks/class_of_500.py [--count 500] [--workers 2] [--dask]

Every hundred has the same mix, in an order of its own (seeded): right and wrong kernels, an
endless loop, a launcher that prints 50 MB, a notebook with 50 MB of outputs, a fork storm.
Each is made different by a comment, so that none is judged twice. With --dask the same class
is graded a second time by a Dask cluster of two local workers, of which one is killed midway:
the gradebooks must be equal. Prints a verdict per line; exit code 1 when one does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from classroom import gradebook, kernels, make_course
from rich.console import Console
from rich.table import Table

from graders.authoring.rooms import Rooms, find_root
from graders.grading.autograde import Autograder, GradedStudent
from graders.grading.demo_students import first_line
from graders.grading.parallel import DaskCluster, Judged, Judging, LocalProcesses, Task

EXERCISE = "vector_add"
MAX_PARENT_GIB = 1.0
MAX_GROWTH = 1.1  # of the largest process, from the first part to the last
MAX_SLOWDOWN = 1.1
BIG = 50_000_000  # bytes


@dataclass
class Class:
    """Code by student, and of which kind each one is."""

    code: dict[str, str]
    kinds: dict[str, str]
    part: int  # so many students in turn have the whole mix


def generated(rooms: Rooms, count: int) -> Class:
    """The class; its first, second, … hundred differ in order and comments only."""
    part = max(10, min(100, count // 3))
    chosen = {kernel.name: kernel.text for kernel in kernels(rooms, 1000)}
    right = chosen["careful_launcher"]
    mix = {
        "endless loop": first_line(right, EXERCISE, "while True: pass"),
        "prints 50 MB": first_line(
            right, EXERCISE, f"for _ in range(50): print('x' * {BIG // 50})"
        ),
        "50 MB of outputs": right,
        "fork storm": first_line(right, EXERCISE, "import os; [os.fork() for _ in range(20)]"),
    }
    names = [*mix, *(list(chosen) * part)[: part - len(mix)]]
    mix |= chosen
    code, kinds = {}, {}
    for number in range(count):
        if number % part == 0:
            random.Random(number).shuffle(names)
        student, kind = f"student-{number:04d}", names[number % part]
        code[student], kinds[student] = f"{mix[kind]}\n# notebook {number}\n", kind
    return Class(code, kinds, part)


def swell(course: Path, assignment: str, students: Iterable[str]) -> None:
    """Give some notebooks 50 MB of outputs."""
    for student in students:
        path = course / "submitted" / student / assignment / f"{assignment}.ipynb"
        notebook = json.loads(path.read_text(encoding="utf-8"))
        text = {"output_type": "stream", "name": "stdout", "text": "x" * BIG}
        next(c for c in notebook["cells"] if c["id"] == EXERCISE)["outputs"] = [text]
        path.write_text(json.dumps(notebook), encoding="utf-8")


@dataclass
class Watched:
    """What was seen while a class was graded, one entry per result."""

    results: list[GradedStudent] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)  # bytes
    largest: list[int] = field(default_factory=list)  # bytes of the largest other process
    started: float = field(default_factory=time.perf_counter)

    def watch(self, results: Iterable[GradedStudent]) -> Watched:
        me = psutil.Process()
        for result in results:
            self.results.append(result)
            self.times.append(time.perf_counter())
            self.parent.append(me.memory_info().rss)
            self.largest.append(max(map(resident, me.children(recursive=True)), default=0))
        return self


def resident(process: psutil.Process) -> int:
    """Bytes in memory; 0 for a process that is gone."""
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def graded(course: Path, assignment: str, judging: Judging) -> Watched:
    grader = Autograder(course, assignment)
    return Watched().watch(grader.grade(grader.students(), judging))


def with_a_killed_worker(course: Path, assignment: str, after: int) -> Watched:
    """The same through a Dask cluster of two; one is killed after so many judgements."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:

        def judging(tasks: Iterable[Task]) -> Iterator[Judged]:
            judged = DaskCluster(cluster.scheduler_address)(tasks)
            for number, pair in enumerate(judged):
                if number == after:
                    os.kill(next(iter(cluster.workers.values())).process.pid, signal.SIGKILL)
                yield pair

        return graded(course, assignment, judging)


Line = tuple[str, str, str, bool | None]  # what, measured, bar, does it hold


def verdicts(given: Class, seen: Watched, scores: dict[str, dict[str, float | None]]) -> list[Line]:
    """Did it finish, is everybody's grade the grade of that kind, is it flat?"""
    count, part = len(given.code), given.part
    named = Counter(result.student for result in seen.results)
    ungraded = [result for result in seen.results if result.status != "graded"]
    by_kind: dict[str, set[str]] = {}
    for student, kind in given.kinds.items():
        by_kind.setdefault(kind, set()).add(json.dumps(scores.get(student)))
    unequal = sorted(kind for kind, found in by_kind.items() if len(found) > 1)
    peak = max(seen.parent) / 2**30
    lines: list[Line] = [
        ("graded", f"{count - len(ungraded)} of {count}", "all", not ungraded),
        *(("ungraded: " + result.student, result.reason, "", None) for result in ungraded[:3]),
        ("each student once", str(max(named.values())), "1", set(named.values()) == {1}),
        ("in the gradebook", str(len(scores)), str(count), set(scores) == set(given.code)),
        ("kinds with unequal grades", ", ".join(unequal) or "none", "none", not unequal),
        ("parent's peak memory", f"{peak:.2f} GiB", f"{MAX_PARENT_GIB} GiB", peak < MAX_PARENT_GIB),
    ]
    for name, sizes in (("parent", seen.parent), ("largest worker", seen.largest)):
        first, last = (max(sizes[s]) / 2**20 for s in (slice(0, part), slice(-part, None)))
        holds = last < MAX_GROWTH * first
        lines.append(
            (f"{name}, first and last part", f"{first:.0f}, {last:.0f} MiB", "flat", holds)
        )
    return lines


def pace(seen: Watched, part: int, count: int) -> list[Line]:
    """Seconds per submission of the first and the last whole part: their mix is the same."""
    early = (seen.times[part - 1] - seen.times[0]) / (part - 1)  # the first waited for the start
    whole = count // part * part
    late = (seen.times[whole - 1] - seen.times[whole - part]) / (part - 1)
    load = f"load {os.getloadavg()[2]:.1f} over the last 15 minutes"
    return [
        ("whole run", f"{seen.times[-1] - seen.started:.0f} s", "", None),
        ("seconds per submission, first part", f"{early:.2f}", load, None),
        ("seconds per submission, last part", f"{late:.2f}", f"{MAX_SLOWDOWN * early:.2f}",
         late <= MAX_SLOWDOWN * early),
    ]  # fmt: skip


def show(title: str, lines: list[Line]) -> bool:
    """One table; False where a line does not hold."""
    table = Table(title=title)
    for column in ("", "measured", "bar", "holds"):
        table.add_column(column)
    for what, measured, bar, holds in lines:
        table.add_row(what, measured, bar, "" if holds is None else "yes" if holds else "NO")
    Console(width=110).print(table)
    return all(holds is not False for *_, holds in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--dask", action="store_true")
    options = parser.parse_args()
    rooms = Rooms(find_root(Path(__file__)))
    with tempfile.TemporaryDirectory(prefix="tilewise-bench-") as temporary:
        course, again = Path(temporary) / "course", Path(temporary) / "again"
        given = generated(rooms, options.count)
        assignment = make_course(rooms, course, given.code)
        swell(course, assignment, (s for s, kind in given.kinds.items() if "outputs" in kind))
        if options.dask:
            shutil.copytree(course, again)
        seen = graded(course, assignment, LocalProcesses(options.workers))
        scores = gradebook(course, assignment)
        lines = verdicts(given, seen, scores) + pace(seen, given.part, options.count)
        holds = show(f"{options.count} submissions, local processes", lines)
        if options.dask:
            seen = with_a_killed_worker(again, assignment, options.count // 2)
            found = gradebook(again, assignment)
            lines = verdicts(given, seen, found)
            lines.append(("gradebook as before", str(found == scores), "True", found == scores))
            holds &= show(f"{options.count} submissions, Dask, one worker of two killed", lines)
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
