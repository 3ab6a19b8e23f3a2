"""Mistakes of programs that take one tile of a mixture of experts after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import torch

from graders.course.experts.mistakes.dealing import ceil, in_order, sides_named
from graders.course.experts.mistakes.of_each_expert import groups
from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import looks_like
from graders.judge.records import Evidence

Part = tuple[int, slice, slice]  # an expert, rows, columns


def _tilings(evidence: Evidence) -> Iterator[tuple[int, int]]:
    """Yield height and width of a tile of the last launch, in each way that its constants admit."""
    if evidence.launches and evidence.expected.dim() == 2:
        launch = evidence.launches[-1]
        yield from product(sides_named(launch, "MH"), sides_named(launch, "NW"))


def _full_tiles(evidence: Evidence, sides: tuple[int, int]) -> int | None:
    """Return how many tiles there would be if all rows belonged to one expert.

    None where the programs of the last launch are not in one row.
    """
    if sum(size > 1 for size in evidence.launches[-1].grid) > 1:
        return None
    rows, columns = evidence.expected.shape
    return ceil(rows, sides[0]) * ceil(columns, sides[1])


def _parts(evidence: Evidence, sides: tuple[int, int]) -> Iterator[tuple[int, list[Part | None]]]:
    """Yield the number of programs and the tiles of the result, in each of the usual orders.

    A launcher does not know the offsets, so it counts as many tiles as there can be at most. None
    stands for a tile that is counted and does not exist.
    """
    height, width = sides
    bounds, (rows, columns) = groups(evidence.args[2]), evidence.expected.shape
    tiles = in_order(bounds, height)
    most = ceil(rows, height) + len(bounds)
    across = ceil(columns, width)
    for count in sorted({len(tiles), max(len(tiles), most)}):
        places = [(row, column) for row in range(count) for column in range(across)]
        turned = [(row, column) for column in range(across) for row in range(count)]
        for order in (places, turned):
            parts: list[Part | None] = []
            for number, column in order:
                if number >= len(tiles):
                    parts.append(None)
                    continue
                expert, first, end = tiles[number]
                cut = slice(column * width, min((column + 1) * width, columns))
                parts.append((expert, slice(first, min(first + height, end)), cut))
            yield prod(evidence.launches[-1].grid), parts


def _missing_but(evidence: Evidence, kept: Sequence[Part | None]) -> bool:
    missing = torch.ones(evidence.expected.shape, dtype=torch.bool)
    for part in kept:
        if part is not None:
            missing[part[1], part[2]] = False
    found = evidence.never_stored
    return found is not None and bool(missing.any()) and torch.equal(missing, found)


def one_round(evidence: Evidence) -> bool:
    """Tell whether each program took one tile, and there were more."""
    for sides in _tilings(evidence):
        full = _full_tiles(evidence, sides)  # of so many programs each was meant for one tile
        if full is not None and any(
            full != programs < len(parts) and _missing_but(evidence, parts[:programs])
            for programs, parts in _parts(evidence, sides)
        ):
            return True
    return False


def last_round_missing(evidence: Evidence) -> bool:
    """Tell whether just the tiles are missing that do not make a full round."""
    for sides in _tilings(evidence):
        full = _full_tiles(evidence, sides)
        if full is not None and any(
            0 < programs < min(full, len(parts))
            and len(parts) % programs
            and _missing_but(evidence, parts[: len(parts) // programs * programs])
            for programs, parts in _parts(evidence, sides)
        ):
            return True
    return False


def accumulator_goes_on(evidence: Evidence) -> bool:
    """Tell whether a program that computes several tiles never set its accumulator back to zero."""
    if evidence.actual is None:
        return False
    x, w, _ = widened(evidence.args)
    whole = torch.zeros_like(evidence.expected, dtype=torch.float64)
    for expert, (first, end) in enumerate(groups(evidence.args[2])):
        whole[first:end] = x[first:end] @ w[expert]
    return any(
        looks_like(evidence, _summed(whole, parts, programs))
        for sides in _tilings(evidence)
        for programs, parts in _parts(evidence, sides)
        if 0 < programs < len(parts)
    )


def _summed(whole: torch.Tensor, parts: Sequence[Part | None], programs: int) -> torch.Tensor:
    """Return a product whose tiles hold the sum of those that their program had before them."""
    height = max((part[1].stop - part[1].start for part in parts if part), default=0)
    width = max((part[2].stop - part[2].start for part in parts if part), default=0)
    result = torch.zeros_like(whole)
    for first in range(programs):
        total = torch.zeros(height, width, dtype=whole.dtype)
        for part in parts[first::programs]:
            if part is not None:
                _, rows, columns = part
                mine = whole[rows, columns]
                total[: mine.shape[0], : mine.shape[1]] += mine
                result[rows, columns] = total[: mine.shape[0], : mine.shape[1]]
    return result
