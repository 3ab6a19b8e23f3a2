"""Read what a worker reports: bounded JSON, validated field by field.

A report can explain a failure; it can never grant a pass, because the judge compares the
bytes of the output itself. What does not have the agreed form is dropped.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from graders.judge.records import Aim, Fault, LaunchFacts

MAX_ITEMS = 64
MAX_NAME = 200
MAX_MESSAGE = 2_000
MAX_LINE = 1_000_000
LARGEST = 1 << 62
_CODE = re.compile(r"[a-z][a-z0-9-]{0,40}")


@dataclass(frozen=True)
class WorkerReport:
    """What the worker says happened in one job: read with care, and never believed for a grade."""

    faults: tuple[Fault, ...] = ()
    launches: tuple[LaunchFacts, ...] = ()
    traffic: Mapping[str, Any] | None = None
    error: Fault | None = None
    returned: str = ""


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
        launches = (*launches[:-1], replace(launches[-1], aim=_aim(report.get("aim"))))
    return WorkerReport(
        faults=tuple(filter(None, map(_fault, _items(report.get("faults"))))),
        launches=launches,
        traffic=_traffic(report.get("traffic")),
        error=_fault(report.get("error")),
        returned=text(report.get("returned"), MAX_MESSAGE),
    )


def text(value: object, limit: int) -> str:
    """A string without control, formatting or unpaired characters, at most `limit` long."""
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
    )


def line(value: object) -> int | None:
    """The number of a line, from 1; None for anything else."""
    return value if type(value) is int and 0 < value <= MAX_LINE else None


def _launch(value: object) -> LaunchFacts | None:
    if not isinstance(value, dict):
        return None
    grid = value.get("grid")
    sizes = grid[:3] if isinstance(grid, list) else []
    meta, configs = value.get("meta"), value.get("configs")
    return LaunchFacts(
        kernel=text(value.get("kernel"), MAX_NAME),
        grid=tuple(size for size in sizes if type(size) is int),
        meta=_scalars(meta) if isinstance(meta, dict) else {},
        configs=configs if type(configs) is int else 1,
        tf32=value.get("tf32") is True,
    )


def _aim(value: object) -> Aim | None:
    """Where the stores to the result were aimed at: whole numbers of a sensible size."""
    if not isinstance(value, dict):
        return None
    firsts = value.get("firsts")
    elements, lanes = _count(value.get("elements")), _count(value.get("lanes"))
    offsets = firsts if isinstance(firsts, list) and len(firsts) == 4 else [None] * 4
    if elements is None or lanes is None:
        return None
    return Aim(
        elements=elements,
        lanes=lanes,
        reached=_count(value.get("reached")),
        firsts=tuple(n if type(n) is int and abs(n) < LARGEST else None for n in offsets),
    )


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < LARGEST else None


def _scalars(value: dict[str, Any]) -> dict[str, Any]:
    """The entries whose value is a number, a truth value, None or a short string."""
    kept: dict[str, Any] = {}
    for name, item in list(value.items())[:MAX_ITEMS]:
        if isinstance(item, str):
            kept[text(name, MAX_NAME)] = text(item, MAX_NAME)
        elif item is None or isinstance(item, int | float):
            kept[text(name, MAX_NAME)] = item
    return kept


def _traffic(value: object) -> Mapping[str, Any] | None:
    """Figures by name, and figures by argument: a mapping of mappings of scalars."""
    if not isinstance(value, dict):
        return None
    figures = _scalars(value)
    for name, item in list(value.items())[:MAX_ITEMS]:
        if isinstance(item, dict):
            figures[text(name, MAX_NAME)] = _scalars(item)
    return figures
