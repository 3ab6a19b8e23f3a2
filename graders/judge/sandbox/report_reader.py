"""Reads a worker's report, which is bounded JSON, and validates it field by field.

A report can explain a failure but cannot grant a pass, because the judge itself compares the
bytes of the output. Malformed fields are dropped.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from graders.judge.records import AccessMap, Aim, Fault, LaunchFacts, Outside, ProgramRow, Runs

MAX_ITEMS = 64
MAX_NAME = 200
MAX_MESSAGE = 2_000
MAX_LINE = 1_000_000
MOST_PROGRAMS = 2**31 - 1  # along an axis
MOST_CONFIGS = 100_000
MOST_NUMBER = 2**64
MOST_BYTES = 2**60
MOST_OFFSET = 2**63  # of a wrong address: any integer may have been added to a pointer
MOST_RUNS, MOST_AXES = 16, 8
MOST_COMPILED = 10_000  # kernels, in one job
# Counts for an argument, see `triton_util.interpreter.watchers.traffic`, and the order in which
# the programs load its blocks, see `job_report`.
FIGURES = (
    *("loaded", "stored", "atomic", "distinct_loaded", "distinct_stored"),
    *("lanes", "active_lanes", "sectors", "requests"),
)
ORDER_FIGURES = ("blocks", "programs", "rising")
_CODE = re.compile(r"[a-z][a-z0-9-]{0,40}")


@dataclass(frozen=True)
class WorkerReport:
    """What the worker reports of one job: validated, but not trusted for a grade."""

    faults: tuple[Fault, ...] = ()
    launches: tuple[LaunchFacts, ...] = ()
    traffic: Mapping[str, Mapping[str, int]] | None = None
    error: Fault | None = None
    returned: str = ""
    compiled: int = 0
    ran: Mapping[str, frozenset[int]] | None = None
    sides: frozenset[int] = frozenset()


def parse(raw: bytes) -> WorkerReport:
    """Read `raw`, which is JSON padded with zero bytes; an empty report if it is anything else."""
    try:
        report = json.loads(raw.split(b"\0", 1)[0].decode("utf-8", "replace") or "{}")
    except (ValueError, RecursionError):
        return WorkerReport()
    if not isinstance(report, dict):
        return WorkerReport()
    launches = tuple(filter(None, map(_launch, _items(report.get("launches")))))
    if launches:
        loads = tuple(filter(None, map(_pointed, _items(report.get("loads")))))
        aim, pointed = _aim(report.get("aim")), _pointed(report.get("pointed"))
        last = replace(launches[-1], aim=aim, pointed=pointed, loads=loads)
        launches = (*launches[:-1], last)
    return WorkerReport(
        faults=tuple(filter(None, map(_fault, _items(report.get("faults"))))),
        launches=launches,
        traffic=_traffic(report.get("traffic")),
        error=_fault(report.get("error")),
        returned=text(report.get("returned"), MAX_MESSAGE),
        compiled=_whole(report.get("compiled"), MOST_COMPILED) or 0,
        ran=_ran(report.get("ran")),
        sides=_numbered(report.get("sides")) or frozenset(),
    )


def _ran(value: object) -> Mapping[str, frozenset[int]] | None:
    """Return the arms that ran in each launch; None if unknown."""
    if not isinstance(value, dict):
        return None
    found = {}
    for alike, arms in value.items():
        numbers = _numbered(arms)
        if numbers is None:
            return None
        found[str(alike)] = numbers
    return found


def _numbered(value: object) -> frozenset[int] | None:
    """Return a list of whole numbers from 0 as a set; None for anything else."""
    if not isinstance(value, list) or any(type(one) is not int or one < 0 for one in value):
        return None
    return frozenset(value)


def text(value: object, limit: int) -> str:
    """Return a string without control, format and surrogate characters, cut to `limit`."""
    if not isinstance(value, str):
        return ""
    kept = (c for c in value[:limit] if c in "\n\t" or unicodedata.category(c)[0] != "C")
    return "".join(kept)


def _items(value: object) -> list[Any]:
    return value[:MAX_ITEMS] if isinstance(value, list) else []


def _fault(value: object) -> Fault | None:
    if not isinstance(value, dict) or not isinstance(value.get("code"), str):
        return None
    if not _CODE.fullmatch(value["code"]):
        return None
    return Fault(
        code=value["code"],
        message=text(value.get("message"), MAX_MESSAGE),
        line=line(value.get("line")),
        source=text(value.get("source"), MAX_NAME),
        argument=text(value.get("argument"), MAX_NAME) or None,
        operation=text(value.get("operation"), MAX_NAME) or None,
        cause=text(value.get("cause"), MAX_MESSAGE),
        program=_numbers(value.get("program"), 0),
        outside=_outside(value.get("outside")),
    )


def _outside(value: object) -> Outside | None:
    """Return where lanes left a tensor; None if any number is missing."""
    if not isinstance(value, dict):
        return None
    shape = _numbers(value.get("shape"), 0)
    end, lanes, active = (_whole(value.get(n), MOST_BYTES) for n in ("end", "lanes", "active"))
    offsets = _numbers(
        [value.get(name) for name in ("first", "lowest", "highest")], -MOST_OFFSET, MOST_OFFSET
    )
    if shape is None or end is None or lanes is None or active is None or offsets is None:
        return None
    return Outside(shape, end, lanes, active, *offsets)


def line(value: object) -> int | None:
    """Return a line number, from 1; None for anything else."""
    return value if type(value) is int and 0 < value <= MAX_LINE else None


def _launch(value: object) -> LaunchFacts | None:
    if not isinstance(value, dict):
        return None
    grid, meta, given = (value.get(name) for name in ("grid", "meta", "given"))
    sizes = [_whole(size, MOST_PROGRAMS) for size in grid] if isinstance(grid, list) else []
    if len(sizes) > 3 or None in sizes:
        return None
    return LaunchFacts(
        kernel=text(value.get("kernel"), MAX_NAME),
        grid=tuple(size for size in sizes if size is not None),
        meta=_scalars(meta) if isinstance(meta, dict) else {},
        configs=_whole(value.get("configs"), MOST_CONFIGS) or 1,
        tf32=value.get("tf32") is True,
        given=_scalars(given) if isinstance(given, dict) else {},
    )


def _whole(value: object, most: int) -> int | None:
    """Return an integer from 0 to `most`; None for anything else, also for a bool."""
    return value if type(value) is int and 0 <= value <= most else None


def _aim(value: object) -> Aim | None:
    """Return where the stores to the result were aimed; None if a number is out of range."""
    if not isinstance(value, dict):
        return None
    firsts = value.get("firsts")
    elements, lanes = (
        _whole(value.get("elements"), MOST_BYTES),
        _whole(value.get("lanes"), MOST_BYTES),
    )
    offsets = firsts if isinstance(firsts, list) and len(firsts) == 4 else [None] * 4
    if elements is None or lanes is None:
        return None
    return Aim(
        elements=elements,
        lanes=lanes,
        reached=_whole(value.get("reached"), MOST_BYTES),
        passed=_whole(value.get("passed"), MOST_BYTES),
        storing=_whole(value.get("storing"), MOST_PROGRAMS),
        firsts=tuple(n if type(n) is int and abs(n) < MOST_BYTES else None for n in offsets),
    )


def _pointed(value: object) -> AccessMap | None:
    """Return what the programs pointed at; None if any part is malformed."""
    if not isinstance(value, dict) or value.get("operation") not in ("load", "store"):
        return None
    shape, block = _numbers(value.get("shape"), 0), _numbers(value.get("block"), 0)
    grid, firsts = _numbers(value.get("grid"), 1), _numbers(value.get("firsts"))
    steps, twice = _steps(value.get("steps")), _runs(value.get("twice"))
    rows = [_row(row) for row in _items(value.get("rows"))]
    agreed = [row for row in rows if row is not None]
    if not agreed or len(agreed) < len(rows) or twice is None or grid is None or len(grid) != 3:
        return None
    if shape is None or block is None or steps is None or len(steps) != len(block):
        return None
    return AccessMap(
        operation=value["operation"],
        argument=text(value.get("argument"), MAX_NAME),
        shape=shape,
        dense=value.get("dense") is True,
        grid=grid,
        block=block,
        once=value.get("once") is True,
        firsts=firsts if firsts is not None and len(firsts) == 4 else None,
        steps=steps,
        twice=twice,
        rows=tuple(agreed),
    )


def _row(value: object) -> ProgramRow | None:
    if not isinstance(value, dict):
        return None
    number, lanes = _whole(value.get("number"), MOST_BYTES), _whole(value.get("lanes"), MOST_BYTES)
    offsets, touched = _runs(value.get("offsets")), _runs(value.get("touched"))
    if number is None or lanes is None or offsets is None or touched is None:
        return None
    on = _whole(value.get("on"), lanes)
    if on is None:
        return None
    return ProgramRow(number, lanes, on, value.get("prefix") is True, offsets, touched)


def _runs(value: object) -> Runs | None:
    """Return pairs of integers (first, last), with first <= last."""
    if not isinstance(value, list) or len(value) > MOST_RUNS:
        return None
    pairs = [_numbers(pair) for pair in value]
    read = tuple((p[0], p[1]) for p in pairs if p is not None and len(p) == 2 and p[0] <= p[1])
    return read if len(read) == len(value) else None


def _numbers(
    value: object, least: int = -MOST_BYTES, most: int = MOST_BYTES
) -> tuple[int, ...] | None:
    """Return at most eight integers from `least` to `most`; None for anything else."""
    if not isinstance(value, list) or len(value) > MOST_AXES:
        return None
    read = tuple(n for n in value if type(n) is int and least <= n <= most)
    return read if len(read) == len(value) else None


def _steps(value: object) -> tuple[int | None, ...] | None:
    """Return the same as `_numbers`, where single entries may be None."""
    if not isinstance(value, list) or len(value) > MOST_AXES:
        return None
    known = _numbers([0 if step is None else step for step in value])
    if known is None:
        return None
    return tuple(None if raw is None else n for raw, n in zip(value, known, strict=True))


def _scalars(value: dict[str, Any]) -> dict[str, Any]:
    """Return the entries whose value is a finite number, a bool, None or a short string."""
    kept: dict[str, Any] = {}
    for name, item in list(value.items())[:MAX_ITEMS]:
        if isinstance(item, str):
            kept[text(name, MAX_NAME)] = text(item, MAX_NAME)
        elif item is None or (isinstance(item, int | float) and abs(item) <= MOST_NUMBER):
            kept[text(name, MAX_NAME)] = item  # NaN compares false
    return kept


def _traffic(value: object) -> Mapping[str, Mapping[str, int]] | None:
    """Return the figures by argument; None if one is missing or not a number."""
    if not isinstance(value, dict):
        return None
    found: dict[str, Mapping[str, int]] = {}
    for name, item in list(value.items())[:MAX_ITEMS]:
        figures = _figures(item)
        if figures is None:
            return None
        found[text(name, MAX_NAME)] = figures
    return found


def _figures(value: object) -> dict[str, int] | None:
    if not isinstance(value, dict):
        return None
    wanted = {name: value.get(name, 0) for name in FIGURES}
    if any(name in value for name in ORDER_FIGURES):
        wanted |= {name: value.get(name) for name in ORDER_FIGURES}
    read = {name: _whole(number, MOST_BYTES) for name, number in wanted.items()}
    return None if None in read.values() else {n: v for n, v in read.items() if v is not None}
