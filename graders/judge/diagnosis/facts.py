"""The small table of a card: the shapes of a failing case, its grid, a program, its offsets."""

from __future__ import annotations

from math import prod

from graders.judge.cases import tensors
from graders.judge.diagnosis.failures import Failure
from graders.judge.diagnosis.programs import listed, name_of
from graders.judge.records import Exercise, Fault
from triton_util.report import Table

Facts = tuple[tuple[str, str], ...]


def facts(exercise: Exercise, failure: Failure, fault: Fault | None) -> Facts:
    """Names and values, as far as they are known: shape, grid, program, offsets."""
    launches = failure.evidence.launches
    known = [("shape", tensors.describe(failure.case, exercise.parameters))]
    if launches:
        known.append(("grid", _grid(launches[-1].grid)))
    if fault is not None and fault.program is not None and launches:
        x, y, _ = (*launches[-1].grid, 1, 1)[:3]
        first, second, third = (*fault.program, 0, 0)[:3]
        program = name_of(first + x * (second + y * third), (*launches[-1].grid, 1, 1)[:3])
        known.append(("program", program))
    if fault is not None and fault.outside is not None:
        outside = fault.outside
        reached = listed([(outside.lowest, outside.highest)])
        known.append(("offsets", f"{reached}; the last element is {outside.end - 1}"))
    return tuple(known)


def with_program(known: Facts, table: Table | None) -> Facts:
    """Add program and offsets from the first wrong line of a table, unless they are known."""
    wrong = () if table is None else (r for r, w in zip(table.rows, table.wrong, strict=True) if w)
    row = next(iter(wrong), None)
    if table is None or row is None or any(name in ("program", "offsets") for name, _ in known):
        return known
    cells = dict(zip(table.columns, row, strict=True))
    told = (("program", cells.get("program", "")), ("offsets", cells.get("offsets", "")))
    return (*known, *((name, value) for name, value in told if value))


def _grid(grid: tuple[int, ...]) -> str:
    sizes = list(grid)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    programs = prod(sizes)
    words = f"{programs:,} program{'' if programs == 1 else 's'}"
    return words if len(sizes) == 1 else f"{' × '.join(map(str, sizes))}, {words}"
