"""A table of what each program loaded and stored, if the stores are in the correct places.

The table states facts and calls none of them wrong: the exercise decides whether a program should
load where it stores. It is shown if the two differ, for kernels that load a block once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graders.judge.diagnosis.programs import REST, chosen, listed, name_of, with_gaps
from graders.judge.records import AccessMap
from graders.judge.report import Table

MOST_ARGUMENTS = 3  # that get a column


def loads_table(stored: AccessMap, loads: Sequence[AccessMap], case: str) -> Table | None:
    """The table of one case; None if each program loads what it stores, or if it loops."""
    beside = [one for one in loads if _comparable(one, stored)]
    differing = {n for one in beside for n in _differing(one, stored)}
    if not differing:
        return None
    beside = sorted(beside, key=lambda one: not _differing(one, stored))[:MOST_ARGUMENTS]
    lines = tuple(_lines(stored, beside, differing))
    return Table(
        caption=f"What each program loaded and stored: {case}",
        columns=("program", *(f"loaded from `{one.argument}`" for one in beside), "stored"),
        rows=lines,
        wrong=(False,) * len(lines),
        notes=("Compare the elements that a program loads with those that it stores.",),
    )


def _comparable(load: AccessMap, stored: AccessMap) -> bool:
    """Whether elements of both can be compared: the same numbers mean the same places."""
    same = (load.shape, load.block, load.grid) == (stored.shape, stored.block, stored.grid)
    return same and load.once and stored.once and load.dense and stored.dense


def _differing(load: AccessMap, stored: AccessMap) -> set[int]:
    """The programs that load other elements than they store."""
    loaded = {row.number: row.touched for row in load.rows}
    return {row.number for row in stored.rows if loaded.get(row.number, ()) != row.touched}


def _lines(
    stored: AccessMap, loads: Sequence[AccessMap], differing: set[int]
) -> Iterator[tuple[str, ...]]:
    touched = [{row.number: row.touched for row in one.rows} for one in loads]
    for row in with_gaps(chosen(stored.rows, differing)):
        if row is None:
            yield (REST, *[""] * (len(loads) + 1))
            continue
        cells = [listed(own.get(row.number, ())) or "nothing" for own in touched]
        yield (name_of(row.number, stored.grid), *cells, listed(row.touched) or "nothing")
