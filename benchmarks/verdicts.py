"""Verdicts on the interpreter beside verdicts on the GPU, for every right and wrong kernel.

    python benchmarks/verdicts.py [--exercise NAME] [--jobs N] [--json FILE [--new]]

With `--new` only kernels that FILE does not know are judged; it keeps its other rows. A wrong
kernel that the interpreter refuses never reaches the GPU; without a GPU that column says "not
run". Exit code 1 when a right kernel is refused or a wrong one accepted anywhere.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from graders.authoring.kernels import KnownKernel, correct_kernels, wrong_kernels
from graders.authoring.rooms import Rooms
from graders.judge import discovery
from graders.judge.pipeline import Judge
from triton_util.report import GateStatus, Report

ROOMS = Rooms(Path(__file__).resolve().parent.parent)


@dataclass(frozen=True)
class Row:
    """One kernel: what should happen, what did, and whether the right mistake was named."""

    exercise: str
    kernel: str
    right: bool
    interpreter: str
    gpu: str
    named: bool
    codes: tuple[str, ...]
    seconds: float

    @property
    def key(self) -> tuple[str, bool, str]:
        """Exercise, whether it is right, and name: no other kernel has the same."""
        return self.exercise, self.right, self.kernel

    @property
    def as_expected(self) -> bool:
        seen = {self.interpreter, self.gpu} - {"not run"}
        return seen == {"passed"} if self.right else "failed" in seen


def kernels(exercise: str) -> Iterator[tuple[KnownKernel, bool]]:
    """Those that must pass, then those that must not."""
    folder = ROOMS.kernels(exercise)
    for known, right in ((correct_kernels(folder), True), (wrong_kernels(folder), False)):
        for kernel in known.values():
            yield kernel, right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exercise", help="only this one")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument("--new", action="store_true", help="judge what that file does not know")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with its own judge")
    options = parser.parse_args()
    if options.new and options.json is None:
        parser.error("--new asks for a file: --json FILE")
    before = known_rows(options.json) if options.new else {}
    every = [
        (name, kernel, right) for name in discovery.of_kernels() for kernel, right in kernels(name)
    ]
    todo = [
        (name, kernel, right)
        for name, kernel, right in every
        if options.exercise in (None, name) and (name, right, kernel.name) not in before
    ]
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        judged = list(pool.map(_judged, todo))
    known = before | {row.key: row for row in judged}
    keys = ((name, right, kernel.name) for name, kernel, right in every)
    rows = [known[key] for key in keys if key in known]
    Console(width=120).print(_table(judged))
    print(_summary(rows))
    if options.json:
        kept = {**surroundings(), "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(kept, indent=1) + "\n")
    raise SystemExit(0 if all(row.as_expected for row in rows) else 1)


def known_rows(file: Path) -> dict[tuple[str, bool, str], Row]:
    """The rows of a file that this benchmark wrote, by their keys."""
    kept = json.loads(file.read_text())["rows"]
    rows = [Row(**{**row, "codes": tuple(row["codes"])}) for row in kept]
    return {row.key: row for row in rows}


@cache
def _judge() -> Judge:
    """One judge for each process; its warm workers end with it."""
    return Judge(mode="all", official=True, timed=False)


def _judged(work: tuple[str, KnownKernel, bool]) -> Row:
    name, kernel, right = work
    return _row(_judge().judge_text(kernel.text, discovery.exercise(name)), kernel.name, right)


def _row(report: Report, kernel: str, right: bool) -> Row:
    before = [status for gate, status in report.gates.items() if gate != "gpu"]
    interpreter = "failed" if GateStatus.FAILED in before else "passed"
    if report.points is None:
        interpreter = "ungraded"
    codes = tuple(finding.code for finding in report.findings)
    intended = kernel.split("__")[0].replace("_", "-")
    return Row(
        exercise=report.exercise,
        kernel=kernel,
        right=right,
        interpreter=interpreter,
        gpu=str(report.gates.get("gpu", "not run")).replace("_", " "),
        named=right or intended in codes,
        codes=codes,
        seconds=round(report.seconds, 2),
    )


def _table(rows: list[Row]) -> Table:
    table = Table(title=f"Verdicts: {', '.join(surroundings().values())}", title_justify="left")
    for heading in ("exercise", "kernel", "is", "interpreter", "GPU", "findings", "s", ""):
        table.add_column(heading, overflow="fold")
    for row in rows:
        mark = "ok" if row.as_expected and row.named else ("not named" if row.as_expected else "!!")
        kind = "right" if row.right else "wrong"
        said = ", ".join(row.codes)
        cells = (row.exercise, row.kernel, kind, row.interpreter, row.gpu, said)
        table.add_row(*cells, f"{row.seconds:.1f}", mark)
    return table


def surroundings() -> dict[str, str]:
    """GPU, versions and day."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    versions = {"torch": torch.__version__, "triton": importlib.metadata.version("triton")}
    return {"gpu": gpu, **versions, "date": datetime.datetime.now(datetime.UTC).date().isoformat()}


def _summary(rows: list[Row]) -> str:
    right = [row for row in rows if row.right]
    wrong = [row for row in rows if not row.right]
    accepted = sum(row.as_expected for row in right)
    refused = sum(row.as_expected for row in wrong)
    named = sum(row.named for row in wrong)
    return (
        f"correct kernels accepted: {accepted} of {len(right)}; wrong kernels refused: "
        f"{refused} of {len(wrong)}; refused with their misconception named: {named}"
    )


if __name__ == "__main__":
    main()
