"""Damaged notebooks and scripts, one after another, through all that the trusted side does.

    python benchmarks/fuzz_submissions.py --count 10000

Each is read as `tilewise grade` reads it, and a notebook also as `tilewise autograde` does. Printed
are the exceptions that are no refusal, the slowest file, the one that took most memory, and
whether the honest submission behind each was read as ever (and, every so often, graded 10 of 10).
Ctrl-C ends it early and prints what was seen so far.
"""

from __future__ import annotations

import argparse
import collections
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import nbformat

from graders.grading.judging import code_of
from graders.grading.mend import MasterCell, mend
from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.submission.files import MEMORY_BYTES
from graders.judge.submission.loading import (
    SubmissionError,
    defined_functions,
    load,
    notebook_in_order,
)
from graders.judge.submission.reader import SECONDS, shared
from tests.support.damaged_files import SCRIPT, Damaged, damaged

EXERCISE = discovery.exercise("vector_add")
MASTERS = [
    MasterCell("vector_add", "code", "pass", locked=False, grade=False, solution=True),
    MasterCell("vector_add-public", "code", "1", locked=True, grade=True, solution=False, points=4),
    MasterCell("why", "markdown", "YOUR ANSWER", locked=False, grade=True, solution=True, points=5),
]


class Tally:
    """What has been seen so far."""

    def __init__(self) -> None:
        self.uncaught: list[str] = []
        self.said: collections.Counter[str] = collections.Counter()
        self.slowest = (0.0, "")
        self.largest = (0, "")
        self.longest_wall = 0.0
        self.count = self.read_well = self.judged = self.graded = 0

    def note_cost(self, name: str) -> None:
        cost = shared().last
        self.slowest = max(self.slowest, (cost.processor_seconds, name))
        self.largest = max(self.largest, (cost.memory, name))


def read(path: Path, tally: Tally, name: str) -> None:
    """One file, in each way in which the trusted side reads it."""
    try:
        load(path, EXERCISE)
        said = "read"
    except SubmissionError as error:
        said = error.finding.code
        if said == "reading-failed":
            tally.uncaught.append(f"{name}: {error.finding.message}")
    tally.said[said] += 1
    tally.note_cost(name)
    defined_functions(path)
    if path.suffix == ".ipynb":
        try:
            notebook = nbformat.from_dict(notebook_in_order(path))
            tally.note_cost(name)
            mend(notebook, MASTERS)
            nbformat.validate(notebook)
            code_of(notebook)
        except SubmissionError as error:
            if error.finding.code == "reading-failed":
                tally.uncaught.append(f"{name}: {error.finding.message}")


def one(number: int, folder: Path, tally: Tally) -> Damaged:
    """Read the damaged file of that number; whatever it raises is counted."""
    made = damaged(number)
    path = folder / f"work{made.suffix}"
    path.write_bytes(made.data)
    started = time.perf_counter()
    try:
        read(path, tally, f"{number} ({made.kind})")
    except Exception as error:
        tally.uncaught.append(f"{number} ({made.kind}): {type(error).__name__}: {error}"[:300])
    tally.longest_wall = max(tally.longest_wall, time.perf_counter() - started)
    return made


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=1_000)
    arguments.add_argument("--first", type=int, default=0, help="The number of the first file.")
    arguments.add_argument("--graded", type=int, default=5, help="How many honest ones to judge.")
    given = arguments.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as name, Judge() as judge:
        try:
            run(given.first, given.count, given.graded, Path(name), judge, tally)
        except KeyboardInterrupt:
            print("ended early")
    tell(tally)
    sys.exit(bool(tally.uncaught) or tally.read_well < tally.count or tally.graded < tally.judged)


def run(first: int, count: int, graded: int, folder: Path, judge: Judge, tally: Tally) -> None:
    """All damaged files from number `first` on, an honest one behind each."""
    honest = folder / "honest.py"
    honest.write_text(SCRIPT)
    expected = load(honest, EXERCISE).source
    every = max(1, count // max(1, graded))
    for number in range(first, first + count):
        one(number, folder, tally)
        tally.read_well += load(honest, EXERCISE).source == expected
        tally.count += 1
        if graded and tally.count % every == 0:
            tally.judged += 1
            tally.graded += judge.judge(honest, EXERCISE).points == EXERCISE.max_points


def tell(tally: Tally) -> None:
    """Print what was seen."""
    print(f"{tally.count} damaged files: {dict(tally.said.most_common())}")
    print(f"uncaught exceptions: {len(tally.uncaught)}")
    for line in tally.uncaught[:20]:
        print(f"  {line}")
    print(f"slowest: {tally.slowest[0]:.2f} s of the processor, number {tally.slowest[1]}")
    print(f"  (the limit is {SECONDS} s; longest by the clock {tally.longest_wall:.2f} s)")
    print(f"most memory: {tally.largest[0] / 2**20:.0f} MiB, number {tally.largest[1]}")
    print(f"  (the limit is {MEMORY_BYTES >> 20} MiB)")
    print(
        f"honest submissions behind them: {tally.read_well} of {tally.count} read as ever, ", end=""
    )
    print(f"{tally.graded} of {tally.judged} judged got all points")


if __name__ == "__main__":
    main()
