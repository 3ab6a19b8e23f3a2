"""A table of what each program of a failing case did, next to what it should do.

The expectation is never invented: it is the result cut into the kernel's own blocks, in the order
of its own programs. It is shown only if the blocks and the grid determine it. Otherwise the table
shows which elements no program stored, and which several programs did.

Another table says what each program loaded and stored, if that differs. The exercise decides
whether a program should load where it stores, so this table calls nothing wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import torch

from graders.judge.bounds import Runs
from graders.judge.records import AccessMap, ProgramRow
from triton_util.report import Table

MOST_ROWS = 6
MOST_ARGUMENTS = 3  # that get a column of loads
MOST_NUMBERS = 8  # of offsets in a cell
MOST_RUNS = 9  # that are compared: the worker reports no more
REST = "…"
FOR_EACH = "for each program, as the kernel's own block size cuts it"


@dataclass(frozen=True)
class Shares:
    """Which elements each program should touch, by its launch number, and the rule in words."""

    of: Callable[[int], Runs]
    words: str


def program_table(
    pointed: AccessMap, case: str, expected: torch.Tensor, missed: torch.Tensor | None
) -> Table | None:
    """The table of one case; None if places explain nothing.

    missed: the elements of the result that no kernel stored; None if the launch was stopped before
    its end.
    """
    shares = _shares(pointed, tuple(expected.shape))
    wrong = {row.number for row in pointed.rows if _is_wrong(row, pointed, shares)}
    unstored = [] if missed is None else missed.reshape(-1).nonzero().reshape(-1).tolist()
    if not (wrong or unstored or (pointed.twice and missed is not None)):
        return None
    rows = chosen(pointed.rows, wrong)
    stopped = missed is None
    return Table(
        caption=_caption(pointed, case, stopped),
        columns=_columns(pointed.operation, stopped, shares is not None),
        rows=tuple(_lines(rows, pointed, shares)),
        wrong=tuple(_marks(rows, wrong)),
        notes=tuple(_notes(pointed, shares, unstored, expected.numel(), stopped)),
    )


def _shares(pointed: AccessMap, shape: tuple[int, ...]) -> Shares | None:
    """How the kernel's own blocks cut a tensor of the result's shape; None if that is unclear.

    Learners may order the blocks differently from the programs; such an order is not judged.
    """
    known = pointed.once and pointed.dense and pointed.firsts is not None
    if not known or pointed.shape != shape or 0 in shape:
        return None
    if len(pointed.block) < 2:
        return _shares_of_lines(pointed, shape)
    if len(pointed.block) == len(shape) == 2:
        return _shares_of_tiles(pointed, shape)
    return None


def _shares_of_lines(pointed: AccessMap, shape: tuple[int, ...]) -> Shares | None:
    assert pointed.firsts is not None
    programs, *others = pointed.grid
    lanes = pointed.block[0] if pointed.block else 1
    count, width = prod(shape), shape[-1]
    step = pointed.firsts[1]
    if others != [1, 1] or step < 0 or not lanes or pointed.steps not in ((1,), (0,), ()):
        return None
    flat = (len(shape) == 1 and lanes > 1) or programs == -(-count // lanes)
    by_row = len(shape) > 1 and programs == count // width and lanes >= width
    if flat and by_row:  # for example rows that are nearly as long as a block
        flat, by_row = step == lanes != width, step == width or lanes == width
    if flat == by_row:
        return None
    size = lanes if flat else width

    def of(number: int) -> Runs:
        first, last = number * size, min(number * size + size, count) - 1
        return ((first, last),) if first <= last else ()

    if by_row:
        return Shares(of, "one row for each program")
    elements = "one element" if size == 1 else f"one block of {size} elements"
    return Shares(of, f"{elements} {FOR_EACH}")


def _shares_of_tiles(pointed: AccessMap, shape: tuple[int, ...]) -> Shares | None:
    assert pointed.firsts is not None
    (rows, columns), (height, width) = shape, pointed.block
    along_x, along_y, deep = pointed.grid
    if deep != 1 or not height or not width or pointed.steps[1] not in (1, 0):
        return None
    by_x = _rows_are_on(0, pointed)
    if by_x is None:
        return None
    across = (along_y if by_x else along_x), width

    def of(number: int) -> Runs:
        x, y = number % along_x, number // along_x
        row, column = (x * height, y * width) if by_x else (y * height, x * width)
        last = min(column + across[1], columns) - 1
        lines = range(row, min(row + height, rows))
        found = [(line * columns + column, line * columns + last) for line in lines]
        return _joined(found) if column <= last else ()

    return Shares(of, f"one tile of {height} × {width} {FOR_EACH}")


def _rows_are_on(axis: int, pointed: AccessMap) -> bool | None:
    """Whether this axis of the grid goes down the rows of the tiles; None if that is unclear.

    The kernel's own pointers decide or, for a store, the sizes of the grid.
    """
    assert pointed.firsts is not None
    (rows, columns), (height, width) = pointed.shape, pointed.block
    sizes, steps = pointed.grid[:2], pointed.firsts[1:3]

    def said(down: int) -> bool:
        wanted = {down: height * columns, 1 - down: width}
        return max(sizes) > 1 and all(sizes[a] == 1 or steps[a] == wanted[a] for a in (0, 1))

    def fits(down: int) -> bool:
        return (sizes[down], sizes[1 - down]) == (-(-rows // height), -(-columns // width))

    for tells in (said, fits):
        if tells(axis) != tells(1 - axis):
            return tells(axis) if tells is said or pointed.operation == "store" else None
    return True if sizes == (1, 1) else None


def _joined(runs: Sequence[tuple[int, int]]) -> Runs:
    """The runs with adjacent ones merged; only the first few."""
    found: list[tuple[int, int]] = []
    for first, last in runs:
        if found and found[-1][1] + 1 == first:
            found[-1] = found[-1][0], last
        elif len(found) == MOST_RUNS:
            break
        else:
            found.append((first, last))
    return tuple(found)


def _is_wrong(row: ProgramRow, pointed: AccessMap, shares: Shares | None) -> bool:
    count = prod(pointed.shape)
    outside = pointed.dense and any(a < 0 or b >= count for a, b in row.touched)
    return outside or (shares is not None and row.touched != shares.of(row.number))


def chosen(rows: Sequence[ProgramRow], wrong: set[int]) -> list[ProgramRow]:
    """The first and the last program, the wrong ones, and others while there is room."""
    by_number = {row.number: row for row in rows}
    first, *_, last = [*by_number, *by_number]
    wanted = dict.fromkeys([first, last, *(n for n in by_number if n in wrong), *by_number])
    return [by_number[n] for n in sorted([*wanted][:MOST_ROWS])]


def _lines(
    rows: Sequence[ProgramRow], pointed: AccessMap, shares: Shares | None
) -> Iterator[tuple[str, ...]]:
    width = 4 + (shares is not None)
    for row in with_gaps(rows):
        if row is None:
            yield (REST, *[""] * (width - 1))
            continue
        cells = [name_of(row.number, pointed.grid), listed(row.offsets), _mask(row)]
        cells.append(listed(row.touched) or "nothing")
        if shares is not None:
            cells.append(listed(shares.of(row.number)) or "nothing")
        yield tuple(cells)


def _marks(rows: Sequence[ProgramRow], wrong: set[int]) -> Iterator[bool]:
    """Yield for each line whether it is wrong, including the lines for omitted programs."""
    for row in with_gaps(rows):
        yield row is not None and row.number in wrong


def with_gaps(rows: Sequence[ProgramRow]) -> Iterator[ProgramRow | None]:
    """Yield the rows, with None where programs between two of them are left out."""
    before = -1
    for row in rows:
        if row.number != before + 1:
            yield None
        before = row.number
        yield row


def name_of(number: int, grid: Sequence[int]) -> str:
    """`3`, or `(1, 0)` with as many axes as the grid uses."""
    x, y, z = grid
    ids = (number % max(x, 1), number // max(x, 1) % max(y, 1), number // max(x * y, 1))
    if z > 1:
        return str(ids)
    return str(ids[:2]) if y > 1 else str(number)


def _mask(row: ProgramRow) -> str:
    if row.lanes == 1:
        return "on" if row.on else "off"
    if row.on == row.lanes:
        return f"all {row.lanes} lanes"
    count = "none" if not row.on else f"first {row.on}" if row.prefix else str(row.on)
    return f"{count} of {row.lanes} lanes"


def listed(runs: Sequence[tuple[int, int]]) -> str:
    """`0 to 1023`, `0, 2, 4, …`: at most eight numbers."""
    said: list[str] = []
    room = MOST_NUMBERS
    for first, last in runs:
        room -= 1 if first == last else 2
        if room < 0:
            said.append(REST)
            break
        near = ", " if last == first + 1 else " to "
        said.append(str(first) if first == last else f"{first}{near}{last}")
    return ", ".join(said)


def _caption(pointed: AccessMap, case: str, stopped: bool) -> str:
    if stopped:
        return f"`tl.{pointed.operation}` at `{pointed.argument}`, program by program: {case}"
    return f"What each program stored: {case}"


def _columns(operation: str, stopped: bool, known: bool) -> tuple[str, ...]:
    done = f"would {operation}" if stopped else "stored"
    named = ("program", "offsets", "mask", done)
    return (*named, "should be") if known else named


def _notes(
    pointed: AccessMap, shares: Shares | None, unstored: list[int], count: int, stopped: bool
) -> Iterator[str]:
    if stopped:
        last = prod(pointed.shape) - 1
        has = f"the elements 0 to {last}" if last > 0 else "one element" if not last else "none"
        if pointed.dense:
            yield f"`{pointed.argument}` has {has}: the kernel is stopped before it goes outside."
    if unstored:
        runs = listed(_joined([(n, n) for n in unstored]))
        share = f"{len(unstored)} of the {count} elements: {runs}"
        yield f"No program stored {share if len(unstored) < count else 'anything'}."
    if pointed.twice and not stopped:
        yield f"More than one program stored {listed(pointed.twice)}."
    if shares is not None:
        yield f"Should be: {shares.words}."
    if len(pointed.shape) == 2 and min(pointed.shape) > 1 and pointed.dense:
        columns = pointed.shape[1]
        yield f"Elements are counted row by row: [1, 1] is element {columns + 1}."


def loads_table(stored: AccessMap, loads: Sequence[AccessMap], case: str) -> Table | None:
    """The table of one case; None if each program loads what it stores, or if it loops."""
    beside = [one for one in loads if _comparable(one, stored)]
    differing = {n for one in beside for n in _differing(one, stored)}
    if not differing:
        return None
    beside = sorted(beside, key=lambda one: not _differing(one, stored))[:MOST_ARGUMENTS]
    lines = tuple(_load_lines(stored, beside, differing))
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


def _load_lines(
    stored: AccessMap, loads: Sequence[AccessMap], differing: set[int]
) -> Iterator[tuple[str, ...]]:
    touched = [{row.number: row.touched for row in one.rows} for one in loads]
    for row in with_gaps(chosen(stored.rows, differing)):
        if row is None:
            yield (REST, *[""] * (len(loads) + 1))
            continue
        cells = [listed(own.get(row.number, ())) or "nothing" for own in touched]
        yield (name_of(row.number, stored.grid), *cells, listed(row.touched) or "nothing")
