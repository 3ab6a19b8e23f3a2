"""What a card shows of a correct kernel: its programs' stores, and the model's registers.

Nothing here affects a verdict. The figures of the model solution are in
`graders/course/generated/registers.json`, which `tilewise build --traffic` writes.
"""

from __future__ import annotations

import json
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from graders.judge.bounds import Runs
from graders.judge.cases.prepared import Prepared
from graders.judge.diagnosis.programs import MOST_RUNS, chosen, name_of
from graders.judge.gates.protocol import Context
from graders.judge.pipeline import Judge
from graders.judge.plan.steps import launches_of
from graders.judge.records import AccessMap, Exercise, ProgramRow
from graders.judge.sandbox.pool import Job
from graders.judge.submission.loading import Submission

REGISTERS = Path(__file__).resolve().parents[1] / "course" / "generated" / "registers.json"
MOST_TRIED = 1  # the smallest case that several programs share; the learner waits for this run


def access(judge: Judge, submission: Submission, exercise: Exercise) -> dict[str, Any] | None:
    """The elements that each program stores in a small public case, and its masked-off lanes.

    None if that cannot be determined, and for a plain function, which stores nothing.
    """
    if exercise.function is not None:
        return None
    context = Context(submission, exercise, judge.runtime)
    planned = context.planned
    public = [item for item in judge.runtime.cases(exercise) if item.size]
    chosen_cases = sorted(public, key=lambda item: (_programs(context, item) < 2, item.size))
    jobs = [
        (item, job)
        for item in chosen_cases[:MOST_TRIED]
        if isinstance(job := planned.job(item, "grid", programs=True), Job)
    ]
    outcomes = judge.runtime.workers("cpu").run([job for _, job in jobs])
    for (item, _), outcome in zip(jobs, outcomes, strict=True):
        pointed = outcome.launches[-1].pointed if outcome.launches else None
        rows = None if pointed is None else _rows(pointed)
        if pointed is not None and rows is not None:
            shape, programs = list(pointed.shape), prod(pointed.grid)
            return {"case": item.case.name, "shape": shape, "programs": programs, "rows": rows}
    return None


def _programs(context: Context, item: Prepared) -> int:
    """How many programs the last launch of a case has."""
    case = context.captured.case(item.number)
    launches = [] if case is None else [*launches_of(case.steps)]
    grid = launches[-1].grid if launches else 0
    sizes = grid if isinstance(grid, tuple | list) else [grid]
    return prod(size for size in sizes if isinstance(size, int))


def _rows(pointed: AccessMap) -> list[dict[str, Any]] | None:
    """The stores of a few programs; None if the tensor has gaps or there are too many runs."""
    if pointed.operation != "store" or not pointed.dense:
        return None
    rows = []
    for row in chosen(pointed.rows, set()):
        tile = _tile(row, pointed)
        aimed, stored = (tile, tile) if tile is not None else (row.offsets, row.touched)
        if tile is None and max(len(aimed), len(stored)) >= MOST_RUNS:
            return None
        rows.append(
            {
                "program": name_of(row.number, pointed.grid),
                "lanes": row.lanes,
                "on": row.on,
                "aimed": [[first, last] for first, last in aimed],
                "stored": [[first, last] for first, last in stored],
            }
        )
    return rows


def _tile(row: ProgramRow, pointed: AccessMap) -> Runs | None:
    """All runs of a program that stores one tile; None if it stores anything else.

    The worker reports only the first few runs.
    """
    shape, block = pointed.shape, pointed.block
    if len(shape) != 2 or len(block) != 2 or not pointed.once or not row.offsets:
        return None
    if pointed.steps[1] not in (0, 1) or (block[0] > 1 and pointed.steps[0] != shape[1]):
        return None
    top, left = divmod(row.offsets[0][0], shape[1])
    right = min(left + block[1], shape[1]) - 1
    lines = range(top, min(top + block[0], shape[0]))
    runs = tuple((line * shape[1] + left, line * shape[1] + right) for line in lines)
    inside = sum(last + 1 - first for first, last in runs)
    return runs if inside == row.on else None


@cache
def _registers() -> dict[str, dict[str, Any]]:
    if not REGISTERS.is_file():
        return {}  # a clone whose author has not measured yet
    known: dict[str, dict[str, Any]] = json.loads(REGISTERS.read_text(encoding="utf-8"))
    return known


def registers(exercise: Exercise) -> dict[str, Any] | None:
    """The registers of the model solution's most demanding kernel on the newest target."""
    return _registers().get(exercise.name)
