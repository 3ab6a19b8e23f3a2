"""Tiles dealt out to programs, as mistakes would do it: which rows are left without a program.

A tile is (expert, first row, end): it stores BLOCK_M rows from the first one on, up to the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import prod

import torch

from graders.course.common.detectors import READS_OUTSIDE, TILE_SIDE, Detector
from graders.course.experts.mistakes.of_each_expert import groups
from graders.judge.records import Evidence, LaunchFacts

Groups = Sequence[tuple[int, int]]
Tile = tuple[int, int, int]
Dealer = Callable[[Groups, int, int], Sequence[Tile]]
"""(groups, BLOCK_M, programs along the rows) → the tiles for which there is a program."""

BLOCKS = (16, 32, 64, 128, 256)


def ceil(rows: int, block: int) -> int:
    """Return how many blocks hold so many rows."""
    return -(-rows // block)


def in_order(bounds: Groups, block: int) -> list[Tile]:
    """Return all tiles, expert after expert."""
    return [
        (expert, first + number * block, end)
        for expert, (first, end) in enumerate(bounds)
        for number in range(ceil(end - first, block))
    ]


def leaves_rows_out(*dealers: Dealer) -> Detector:
    """Return the detector of just those rows missing that one of the dealers leaves out."""

    def detector(evidence: Evidence) -> bool:
        missing = rows_missing(evidence)
        if missing is None or not missing.any() or not evidence.launches:
            return False
        bounds = groups(evidence.args[2])
        launch = evidence.launches[-1]
        return any(
            torch.equal(missing, _left_out(dealer(bounds, block, count), len(missing), block))
            for block in blocks_of(launch)
            for count in programs_along_rows(launch, evidence.expected.shape[1])
            for dealer in dealers
        )

    return detector


def rows_missing(evidence: Evidence) -> torch.Tensor | None:
    """Return which rows were never stored; None where rows were stored in part, or nobody knows."""
    missing = evidence.never_stored
    if missing is None or missing.dim() != 2 or not missing.numel():
        return None
    whole = missing.all(dim=1)
    return whole if torch.equal(whole, missing.any(dim=1)) else None


def strayed_without_tile(evidence: Evidence) -> bool:
    """Tell whether a program without a tile, whose number is too high, read outside a tensor."""
    if not evidence.launches:
        return False
    launch, bounds = evidence.launches[-1], groups(evidence.args[2])
    heights, widths = sides_named(launch, "MH"), sides_named(launch, "NW")
    if not heights:
        return False
    last = len(in_order(bounds, min(heights)))  # of the smallest tiles there are most
    across = ceil(evidence.expected.shape[1], min(widths)) if widths else 1
    for numbers in ([*(f.program or ())] for f in evidence.faults if f.code in READS_OUTSIDE):
        if sum(size > 1 for size in launch.grid) < 2 and numbers:
            numbers = [sum(numbers) // across]
        if numbers and numbers[0] >= last:
            return True
    return False


def columns_missing(evidence: Evidence) -> bool:
    """Tell whether the last columns were never stored, in every row, and nothing else."""
    missing = evidence.never_stored
    if missing is None or missing.dim() != 2 or not missing.any() or missing.all():
        return False
    column = missing.all(dim=0)
    first = int(column.to(torch.uint8).argmax())
    return torch.equal(column, missing.any(dim=0)) and bool(column[first:].all())


def _left_out(tiles: Sequence[Tile], rows: int, block: int) -> torch.Tensor:
    missing = torch.ones(rows, dtype=torch.bool)
    for _, first, end in tiles:
        missing[max(0, first) : max(0, min(first + block, end))] = False
    return missing


def blocks_of(launch: LaunchFacts) -> tuple[int, ...]:
    """Return how many rows a tile of the launch may have."""
    return sides_named(launch, "MH") or BLOCKS


def sides_named(launch: LaunchFacts, letters: str) -> tuple[int, ...]:
    """Return how long the side of a tile may be that one of these letters stands for.

    One number where a constant says so by its name. Else every constant that may be the side of a
    tile: nobody knows whether `M` is one, or the height of a matrix.
    """
    sides = {name: value for name, value in launch.meta.items() if type(value) is int}
    named = {
        value
        for name, value in sides.items()
        if TILE_SIDE.fullmatch(name) and name.upper()[-1] in letters
    }
    return tuple(named) if len(named) == 1 else tuple(sorted({*sides.values()} & {*BLOCKS}))


def programs_along_rows(launch: LaunchFacts, columns: int) -> Iterator[int]:
    """Yield how many programs there may be for each tile of columns."""
    grid = tuple(launch.grid)
    widths = sides_named(launch, "NW") or BLOCKS
    found = {*grid, prod(grid), *(prod(grid) // ceil(columns, w) for w in widths)}
    yield from sorted(found - {0})


# ---------------------------------------------------------------- dealers


def too_few_programs(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """There are fewer programs than tiles, and about as many as tiles of all rows together."""
    rows = bounds[-1][1]
    return in_order(bounds, block)[: count if count >= rows // block else None]


def longest_cut(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """Each expert has so many programs, and some expert has more tiles."""
    return [
        (expert, first + number * block, end)
        for expert, (first, end) in enumerate(bounds)
        for number in range(min(count, ceil(end - first, block)))
    ]


def first_rows_cut(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """The first row of each expert is left out."""
    return in_order([(min(first + 1, end), end) for first, end in bounds], block)


def last_rows_cut(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """The last row of each expert is left out."""
    return in_order([(first, max(first, end - 1)) for first, end in bounds], block)


def tails_cut(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """The tiles that are not full are not counted."""
    whole = [(first, first + (end - first) // block * block) for first, end in bounds]
    return in_order(whole, block)


def last_expert_cut(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """The last expert gets no tiles."""
    return in_order(bounds[:-1], block)


def first_expert_cut(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """The first expert gets no tiles."""
    return in_order(
        [(end, end) if number == 0 else (first, end) for number, (first, end) in enumerate(bounds)],
        block,
    )


def counted_from_launch(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """A tile starts at its number in the launch, behind the first row of its expert."""
    tiles = in_order(bounds, block)
    return [(e, bounds[e][0] + number * block, end) for number, (e, _, end) in enumerate(tiles)]


def at_multiples(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """A tile starts at its number in the launch times BLOCK_M, wherever its expert begins."""
    tiles = in_order(bounds, block)
    return [(e, number * block, end) for number, (e, _, end) in enumerate(tiles)]


def given_to_expert_before(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """The first tile of each expert goes to the expert before, which has no rows for it."""
    tiles = in_order(bounds, block)
    return [
        tile for number, tile in enumerate(tiles) if not number or tile[0] == tiles[number - 1][0]
    ]


def given_to_expert_behind(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """The last tile of each expert goes to the expert behind, which has no rows for it."""
    tiles = in_order(bounds, block)
    return [tile for tile, after in pairwise(tiles) if tile[0] == after[0]]


def _unlike_too_few(
    tiles: Sequence[Tile], bounds: Groups, block: int, count: int
) -> Sequence[Tile]:
    """These tiles; all there are where a grid that is too small explains what is missing."""
    stored = [(expert, first, end) for expert, first, end in tiles if first < end]
    due = in_order(bounds, block)
    return due if stored == due[:count] else stored


def counted_by_ends(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """An expert is given as many tiles as all rows up to its end have."""
    tiles = [
        (expert, first + number * block, end)
        for expert, (first, end) in enumerate(bounds)
        for number in range(ceil(end, block))
    ]
    return _unlike_too_few(tiles[:count], bounds, block, count)


def counted_by_starts(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """An expert is given as many tiles as all rows before it have."""
    tiles = [
        (expert, first + number * block, end)
        for expert, (first, end) in enumerate(bounds)
        for number in range(min(ceil(first, block), ceil(end - first, block)))
    ]
    return _unlike_too_few(tiles[:count], bounds, block, count)


def ended_by_empty(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """The first expert without rows, the very first one aside, ends the search for tiles."""
    empty = [expert for expert, (first, end) in enumerate(bounds) if first == end and expert]
    return in_order(bounds[: empty[0]], block) if empty else ()


def empty_searched(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """An expert without rows is counted as a tile where experts are looked for, and not before."""
    found: list[Tile] = []
    number = before = 0
    for expert, (first, end) in enumerate(bounds):
        for _ in range(max(1, ceil(end - first, block))):
            found.append((expert, first + (number - before) * block, end))
            number += 1
        before += ceil(end - first, block)
    return found


def empty_counted(bounds: Groups, block: int, count: int) -> Sequence[Tile]:
    """An expert without rows takes a program, and then there are too few."""
    tiles: list[Tile] = []
    for expert, (first, end) in enumerate(bounds):
        own = [(expert, start, end) for start in range(first, end, block)]
        tiles += own or [(expert, first, end)]
    return tiles[:count] if any(first == end for first, end in bounds) else ()
