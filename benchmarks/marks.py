"""Do two versions of the judge give one class the same marks?

    python benchmarks/marks.py COMMIT [--count 30] [--seed 0]

A class of known right and wrong kernels, drawn evenly from all exercises that both versions have,
is graded with the judge of that commit and with the one of this working tree. Prints the marks
side by side and what was found first; exit code 1 where a mark differs. The older version runs on
the packages that are installed here.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from graders.authoring.kernels import KnownKernel, correct_kernels, wrong_kernels
from graders.authoring.rooms import Rooms, find_root
from graders.judge import discovery

ROOT = find_root(Path(__file__))
ROOMS = Rooms(ROOT)
GRADE = "from graders.cli.main import main; main()"
CANNOT_BE_GRADED = 2  # the exit code of `tilewise grade`


@dataclass(frozen=True)
class Mark:
    """What one version says of a submission. `points`: None where a person has to look."""

    points: float | None
    found: str

    def __str__(self) -> str:
        return "not graded" if self.points is None else f"{self.points:g}"


def unpack(commit: str, folder: Path) -> None:
    """The files of a commit, in a folder of their own."""
    archive = subprocess.run(
        ["git", "archive", commit], cwd=ROOT, check=True, capture_output=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)


def drawn(count: int, seed: int) -> list[tuple[str, KnownKernel]]:
    """Kernels, each with its exercise: in turn from each exercise, correct and wrong."""
    draw = random.Random(seed)
    queues = []
    for exercise in sorted(discovery.exercises()):
        for listed in (correct_kernels, wrong_kernels):
            known = list(listed(ROOMS.kernels(exercise)).values())
            queues.append([(exercise, kernel) for kernel in draw.sample(known, len(known))])
    draw.shuffle(queues)
    longest = max(map(len, queues))
    in_turn = [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)]
    return in_turn[:count]


def written(kernels: list[tuple[str, KnownKernel]], folder: Path) -> list[Path]:
    """A file for each kernel."""
    files = []
    for exercise, kernel in kernels:
        files.append(folder / exercise / f"{kernel.name}.py")
        files[-1].parent.mkdir(parents=True, exist_ok=True)
        files[-1].write_text(kernel.text, encoding="utf-8")
    return files


def marks(version: Path, submissions: list[Path]) -> list[Mark]:
    """What the judge of one version says of the submissions, which are this tree's."""
    files = [str(path) for path in submissions]
    environment = {**os.environ, "PYTHONPATH": str(version)}
    command = [sys.executable, "-c", GRADE, "grade", "--json", *files]
    done = subprocess.run(command, cwd=version, env=environment, capture_output=True, text=True)
    if done.returncode > CANNOT_BE_GRADED or not done.stdout:
        raise SystemExit(f"{version}: `tilewise grade` failed:\n{done.stderr[-2000:]}")
    told = {row["submission"]: row for row in map(json.loads, done.stdout.splitlines())}
    found = []
    for file in files:
        row = told[file]
        first = row["findings"][0]["title"] if row["findings"] else ""
        found.append(Mark(row["points"], first))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        before, submissions = Path(folder, "before"), Path(folder, "submissions")
        before.mkdir()
        unpack(options.commit, before)
        files = written(drawn(options.count, options.seed), submissions)
        pairs = list(zip(files, marks(before, files), marks(ROOT, files), strict=True))
    table = Table("submission", options.commit, "here", "found first", title="Marks")
    for name, old, new in pairs:
        found = new.found if old.found == new.found else f"{old.found} → {new.found}"
        same = str(old) == str(new)
        table.add_row("/".join(name.parts[-2:]), str(old), f"{new}{'' if same else '  ←'}", found)
    Console(width=140).print(table)
    different = sum(old.points != new.points for _, old, new in pairs)
    print(f"{len(pairs)} submissions, {different} with another mark")
    raise SystemExit(1 if different else 0)


if __name__ == "__main__":
    main()
