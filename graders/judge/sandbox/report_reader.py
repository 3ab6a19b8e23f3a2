"""Reads a worker's report, which is bounded JSON, and validates it field by field.

A report can explain a failure but cannot grant a pass, because the judge itself compares the
bytes of the output. The types of the fields say what is accepted; malformed fields are dropped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Any

from graders.judge import bounds
from graders.judge.records import Fault, LaunchFacts
from triton_util.plain_data import Reading, read, reading

MOST_COMPILED = 10_000  # kernels, in one job
# Counts for an argument, see `triton_util.interpreter.watchers.traffic`, and the order in which
# the programs load its blocks, see `job_report`.
FIGURES = (
    *("loaded", "stored", "atomic", "distinct_loaded", "distinct_stored"),
    *("lanes", "active_lanes", "sectors", "requests"),
)
ORDER_FIGURES = ("blocks", "programs", "rising")


def _figures(_: Reading) -> Reading:
    """Read the figures of an argument; those of `FIGURES` that are missing are 0."""
    whole = reading(bounds.Whole)

    def figures(data: Any) -> dict[str, int]:
        given = read(dict, data)
        wanted = {name: given.get(name, 0) for name in FIGURES}
        if any(name in given for name in ORDER_FIGURES):
            wanted |= {name: given.get(name) for name in ORDER_FIGURES}
        return {name: whole(number) for name, number in wanted.items()}

    return figures


def _first_arguments(known: Reading) -> Reading:
    return lambda data: known(dict(islice(read(dict, data).items(), bounds.MAX_ITEMS)))


Figures = Annotated[Mapping[str, int], _figures]
Traffic = Annotated[Mapping[bounds.Short, Figures], _first_arguments]


@dataclass(frozen=True)
class WorkerReport:
    """What the worker reports of one job: validated, but not trusted for a grade."""

    faults: Annotated[tuple[Fault, ...], bounds.each] = ()
    launches: Annotated[tuple[LaunchFacts, ...], bounds.each] = ()
    traffic: Annotated[Traffic | None, bounds.or_else(None)] = None
    error: Annotated[Fault | None, bounds.or_else(None)] = None
    returned: bounds.Message = ""
    compiled: Annotated[int, bounds.within(0, MOST_COMPILED), bounds.or_else(0)] = 0
    ran: Annotated[Mapping[str, bounds.Numbers] | None, bounds.or_else(None)] = None
    sides: Annotated[bounds.Numbers, bounds.or_else(frozenset())] = frozenset()


def parse(raw: bytes) -> WorkerReport:
    """Read `raw`, which is JSON padded with zero bytes; an empty report if it is anything else."""
    try:
        data = json.loads(raw.split(b"\0", 1)[0].decode("utf-8", "replace") or "{}")
        report = read(WorkerReport, data)
        beside = read(LaunchFacts, data)  # what is known of the last launch only
    except (ValueError, RecursionError):
        return WorkerReport()
    if not report.launches:
        return report
    *others, last = report.launches
    last = replace(last, aim=beside.aim, pointed=beside.pointed, loads=beside.loads)
    return replace(report, launches=(*others, last))
