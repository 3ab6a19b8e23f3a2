"""Verdicts that were given before: a test judges a kernel again only where something changed.

`tests/kept_verdicts.json` holds, for each right and wrong kernel, stub and solution of the course,
a digest of its text, what the judge said, and for each exercise the key of all that the judge's
answer depends on (graders.grading.store, and the versions of torch and triton). A verdict counts
as long as both are the same. One kernel in sixty, others with each commit, is judged all the
same: if that disagrees, the file or the key is wrong, and the test says so.

    TILEWISE_KERNELS=changed   the default
    TILEWISE_KERNELS=all       forget what was kept: `make nightly`
    TILEWISE_KERNELS=sample    the sample and no other kernel: `make test-oldest`

`make verdicts` writes the file. What tests have judged in the meantime lies in build/verdicts, so
that nothing is judged twice.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Self

from rich.progress import track

from graders.authoring.lesson import read_solutions, stub
from graders.authoring.rooms import Rooms, find_root
from graders.grading import store
from graders.grading.closure import digest_of
from graders.judge import discovery
from graders.judge.pipeline import GATE_NAMES, Judge
from graders.judge.report import GateStatus, Report, Verdict
from tests.support.capturing import SECRET

ROOMS = Rooms(find_root(Path(__file__)))
FILE = ROOMS.root / "tests" / "kept_verdicts.json"
JUDGED = ROOMS.root / "build" / "verdicts"  # what tests have judged, one file for each process
MODE = "TILEWISE_KERNELS"
ONE_IN = 60
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n\n"


@dataclass(frozen=True)
class Told:
    """What the judge said; `said` is for people and is not kept."""

    verdict: str
    points: float | None
    max_points: float
    codes: tuple[str, ...]
    remarks: tuple[str, ...]
    gates: tuple[str, ...]  # those that passed
    said: str = field(default="", compare=False)

    @classmethod
    def of(cls, report: Report) -> Self:
        said = "; ".join(f"[{f.gate}: {f.code}] {f.title}: {f.message}" for f in report.findings)
        codes = tuple(finding.code for finding in report.findings)
        remarks = tuple(remark.code for remark in report.remarks)
        passed = tuple(name for name in GATE_NAMES if report.gates.get(name) is GateStatus.PASSED)
        verdict, points, most = str(report.verdict), report.points, report.max_points
        return cls(verdict, points, most, codes, remarks, passed, said)

    def to_row(self) -> list[Any]:
        lists = (" ".join(words) for words in (self.codes, self.remarks, self.gates))
        return [self.verdict, self.points, self.max_points, *lists]

    @classmethod
    def from_row(cls, row: list[Any]) -> Self:
        codes, remarks, gates = (tuple(words.split()) for words in row[3:])
        verdict, points, most = row[:3]
        return cls(verdict, points, most, codes, remarks, gates, "as kept")


@dataclass(frozen=True)
class Kernel:
    """A submission whose verdict is known beforehand. `kind`: right, wrong, stub or solution."""

    exercise: str
    kind: str
    path: Path

    @property
    def name(self) -> str:
        """Its key in the file."""
        return self.kind if self.kind in ("stub", "solution") else f"{self.kind}/{self.path.stem}"

    @property
    def official(self) -> bool:
        """A mistake must be named without the hidden cases."""
        return self.kind != "wrong"

    @property
    def code(self) -> str:
        """The misconception that a wrong kernel must be refused for."""
        return self.path.stem.partition("__")[0].replace("_", "-")

    @property
    def needs(self) -> set[str]:
        """The gates that a right one has passed."""
        plain = discovery.exercise(self.exercise).function is not None
        return {"read", "call"} if plain else {"read", "compile", "interpret"}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a right kernel must be remarked upon for: `style__one_remark__another.py`."""
        told = self.path.stem.split("__")[1:] if self.kind == "right" else []
        return tuple(remark.replace("_", "-") for remark in told)

    @cached_property
    def text(self) -> str:
        if self.kind in ("right", "wrong"):
            return self.path.read_text(encoding="utf-8")
        solution = read_solutions(self.path)[self.exercise]
        return IMPORTS + (stub(solution) if self.kind == "stub" else solution)

    @property
    def digest(self) -> str:
        return digest_of(self.text.encode())

    def ask(self, judge: Judge) -> Told:
        """What the judge says now."""
        record = discovery.exercise(self.exercise)
        if self.kind in ("right", "wrong"):
            return Told.of(judge.judge(self.path, record))
        return Told.of(judge.judge_text(self.text, record, f"<{self.kind}>"))

    def wanting(self, told: Told) -> str:
        """What is wrong with a verdict; '' where it is as it should be."""
        if self.kind in ("right", "solution"):
            if told.verdict != Verdict.PASSED or told.points != told.max_points:
                return f"is {told.verdict}"
            if missing := self.needs - set(told.gates):
                return f"did not pass {sorted(missing)}"
            as_due = told.remarks == self.remarks
            return "" if as_due else f"remarked upon: {list(told.remarks)}"
        if told.verdict != Verdict.FAILED:
            return f"is {told.verdict}"
        if self.kind == "stub":
            return "" if told.points == 0 else f"has {told.points} points"
        if told.points is None or told.points >= told.max_points:
            return "is refused with all points"
        return "" if self.code in told.codes else f"refused as {list(told.codes)}"


def kernels(kind: str) -> list[Kernel]:
    """Those of all lessons, in the order of their names."""
    known = sorted(discovery.exercises().values(), key=lambda record: (record.lesson, record.name))
    found: list[Kernel] = []
    for record in known:
        solution = ROOMS.solutions / f"{record.lesson}.py"
        if not solution.is_file():
            continue
        if kind in ("stub", "solution"):
            found.append(Kernel(record.name, kind, solution))
            continue
        room = (ROOMS.right_kernels if kind == "right" else ROOMS.wrong_kernels) / record.name
        found += [Kernel(record.name, kind, path) for path in sorted(room.glob("*.py"))]
    return found


def every_kernel() -> list[Kernel]:
    return [kernel for kind in ("stub", "solution", "right", "wrong") for kernel in kernels(kind)]


def libraries() -> str:
    """The versions on which a verdict depends, as far as they matter."""
    return f"triton {version('triton')}, torch {'.'.join(version('torch').split('.')[:2])}"


@cache
def key(exercise: str) -> str:
    """What the verdicts of an exercise depend on, beside the submission."""
    judge = [store.sources_version(gpu=False), store.exercise_version(exercise, timed=False)]
    return digest_of(json.dumps([*judge, libraries()]).encode())


@cache
def seed() -> str:
    """The commit, so that a run can be repeated; the kept file where there is none."""
    asked = ["git", "rev-parse", "HEAD"]
    done = subprocess.run(asked, cwd=ROOMS.root, capture_output=True, text=True)
    return done.stdout.strip() or digest_of(FILE.read_bytes())


def sampled(kernel: Kernel) -> bool:
    """Whether this kernel is judged in any case, one in `ONE_IN` of them."""
    drawn = digest_of(f"{seed()} {kernel.exercise} {kernel.name}".encode())
    return int(drawn, 16) % ONE_IN == 0


@dataclass(frozen=True)
class Kept:
    """The verdicts of a file: a key for each exercise, a digest and a verdict for each kernel."""

    keys: Mapping[str, str]
    rows: Mapping[str, Mapping[str, tuple[str, Told]]]
    libraries: str = ""

    @classmethod
    def read(cls, file: Path = FILE) -> Self:
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            rows = {
                exercise: {name: (row[0], Told.from_row(row[1:])) for name, row in kept.items()}
                for exercise, kept in data["verdicts"].items()
            }
            return cls(data["keys"], rows, data["libraries"])
        except (OSError, ValueError, KeyError):
            return cls({}, {})  # a half merged file, say: everything is judged

    def told(self, kernel: Kernel) -> Told | None:
        """The kept verdict; None where the kernel or what judges it has changed since."""
        if self.keys.get(kernel.exercise) != key(kernel.exercise):
            return None
        digest, told = self.rows.get(kernel.exercise, {}).get(kernel.name, ("", None))
        return told if digest == kernel.digest else None

    def stale(self) -> list[str]:
        """Entries whose kernel, or what judges it, is not what it was."""
        known = {(kernel.exercise, kernel.name): kernel for kernel in every_kernel()}
        found = []
        for exercise, rows in self.rows.items():
            for name in rows:
                kernel = known.get((exercise, name))
                if kernel is None or self.told(kernel) is None:
                    found.append(f"{exercise}/{name}")
        return found


def write(rows: Iterable[tuple[Kernel, Told]], file: Path = FILE) -> None:
    """One line for each kernel, so that a change shows what it changed."""
    by_exercise: dict[str, list[str]] = {}
    for kernel, told in sorted(rows, key=lambda item: (item[0].exercise, item[0].name)):
        row = json.dumps([kernel.digest, *told.to_row()])
        by_exercise.setdefault(kernel.exercise, []).append(f"   {json.dumps(kernel.name)}: {row}")
    keys = ",\n".join(f'  "{name}": "{key(name)}"' for name in by_exercise)
    verdicts = ",\n".join(
        f'  "{name}": {{\n' + ",\n".join(lines) + "\n  }" for name, lines in by_exercise.items()
    )
    text = f'{{\n "libraries": "{libraries()}",\n "keys": {{\n{keys}\n }},\n'
    text += f' "verdicts": {{\n{verdicts}\n }}\n}}\n'
    file.write_text(text, encoding="utf-8")


# ---------------------------------------------------------------- while tests run


@cache
def kept() -> Kept:
    return Kept({}, {}) if os.environ.get(MODE) == "all" else Kept.read()


def chosen(kind: str) -> list[Kernel]:
    """The kernels that tests look at."""
    found = kernels(kind)
    return [one for one in found if sampled(one)] if os.environ.get(MODE) == "sample" else found


def verdict(kernel: Kernel, judge: Judge) -> Told:
    """What the judge says of a kernel, or has said where nothing changed since."""
    known = kept().told(kernel)
    if known is not None and not sampled(kernel):
        return known
    told = kernel.ask(judge)
    note(kernel, told)
    assert known is None or told == known, (
        f"tests/kept_verdicts.json has {known.to_row()} for {kernel.exercise}/{kernel.name}, and "
        f"the judge says {told.to_row()}, although nothing changed that its key knows of: the key "
        "(graders/grading/store.py) misses something, or the verdict is not always the same; "
        f"{told.said}"
    )
    return told


def note(kernel: Kernel, told: Told) -> None:
    """Leave a verdict for `make verdicts`."""
    JUDGED.mkdir(parents=True, exist_ok=True)
    row = [kernel.exercise, kernel.name, key(kernel.exercise), kernel.digest, *told.to_row()]
    with (JUDGED / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def noted() -> dict[tuple[str, ...], Told]:
    """What tests have judged: (exercise, kernel, key, digest) → what was told."""
    found: dict[tuple[str, ...], Told] = {}
    for file in sorted(JUDGED.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found[tuple(row[:4])] = Told.from_row(row[4:])
    return found


# ---------------------------------------------------------------- make verdicts


@cache
def _judge(official: bool) -> Judge:
    """One of each for each process; their warm workers end with it."""
    return Judge(official=official, secret=SECRET)


def _asked(kernel: Kernel) -> tuple[Kernel, Told]:
    told = kernel.ask(_judge(kernel.official))
    note(kernel, told)
    return kernel, told


def renewed(everything: bool, jobs: int, only: str | None) -> Iterator[tuple[Kernel, Told]]:
    """All verdicts; only what changed is judged, unless `everything`; only that exercise's."""
    before, just_now = Kept.read(), noted()
    waiting: list[Kernel] = []
    for kernel in every_kernel():
        here = (kernel.exercise, kernel.name, key(kernel.exercise), kernel.digest)
        told = None if everything else before.told(kernel) or just_now.get(here)
        if told is not None:
            yield kernel, told
        elif only in (None, kernel.exercise):
            waiting.append(kernel)
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield from track(pool.map(_asked, waiting), f"{len(waiting)} kernels", len(waiting))


def main() -> None:
    parser = argparse.ArgumentParser(description="Write tests/kept_verdicts.json.")
    parser.add_argument("--all", action="store_true", help="judge also what has not changed")
    parser.add_argument("--exercise", help="judge this one's kernels and no others")
    parser.add_argument("--jobs", type=int, default=2, help="processes, each with its own judges")
    options = parser.parse_args()
    rows = list(renewed(options.all, options.jobs, options.exercise))
    wanting = {kernel: said for kernel, told in rows if (said := kernel.wanting(told))}
    write((kernel, told) for kernel, told in rows if kernel not in wanting)
    for file in JUDGED.glob("*.jsonl"):
        file.unlink()  # what still holds is in the file now
    for kernel, said in wanting.items():
        print(f"{ROOMS.name(kernel.path)} ({kernel.exercise}, {kernel.kind}): {said}; left out")
    print(f"{len(rows) - len(wanting)} verdicts kept in {ROOMS.name(FILE)}")
    raise SystemExit(1 if wanting else 0)


if __name__ == "__main__":
    main()
