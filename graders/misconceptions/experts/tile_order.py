"""Mistakes of programs that take one tile of a mixture of experts after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import torch

from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import looks_like
from graders.judge.records import Evidence
from graders.misconceptions.experts.dealing import ceil, in_order, side_of
from graders.misconceptions.experts.of_each_expert import groups

Part = tuple[int, slice, slice]  # an expert, rows, columns


def _full_tiles(evidence: Evidence) -> int | None:
    """Return how many tiles there would be if all rows belonged to one expert.

    None where nobody knows, or where the programs of the last launch are not in one row.
    """
    if not evidence.launches:
        return None
    launch = evidence.launches[-1]
    height, width = side_of(launch, "MH"), side_of(launch, "NW")
    if not height or not width or sum(size > 1 for size in launch.grid) > 1:
        return None
    rows, columns = evidence.expected.shape
    return ceil(rows, height) * ceil(columns, width)


def _parts(evidence: Evidence) -> Iterator[tuple[int, list[Part | None]]]:
    """Yield the number of programs and the tiles of the result, in each of the usual orders.

    A launcher does not know the offsets, so it counts as many tiles as there can be at most. None
    stands for a tile that is counted and does not exist. Yields nothing where the size of a tile
    is not known.
    """
    if not evidence.launches or evidence.expected.dim() != 2:
        return
    launch = evidence.launches[-1]
    height, width = side_of(launch, "MH"), side_of(launch, "NW")
    if not height or not width:
        return
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
            yield prod(launch.grid), parts


def _missing_but(evidence: Evidence, kept: Sequence[Part | None]) -> bool:
    missing = torch.ones(evidence.expected.shape, dtype=torch.bool)
    for part in kept:
        if part is not None:
            missing[part[1], part[2]] = False
    found = evidence.never_stored
    return found is not None and bool(missing.any()) and torch.equal(missing, found)


def one_round(evidence: Evidence) -> bool:
    """Tell whether each program took one tile, and there were more."""
    full = _full_tiles(evidence)  # of so many programs each was meant for one tile
    return full is not None and any(
        full != programs < len(parts) and _missing_but(evidence, parts[:programs])
        for programs, parts in _parts(evidence)
    )


def last_round_missing(evidence: Evidence) -> bool:
    """Tell whether just the tiles are missing that do not make a full round."""
    full = _full_tiles(evidence)
    return full is not None and any(
        0 < programs < min(full, len(parts))
        and len(parts) % programs
        and _missing_but(evidence, parts[: len(parts) // programs * programs])
        for programs, parts in _parts(evidence)
    )


def accumulator_goes_on(evidence: Evidence) -> bool:
    """Tell whether a program that computes several tiles never set its accumulator back to zero."""
    x, w, _ = widened(evidence.args)
    for programs, parts in _parts(evidence):
        if not 0 < programs < len(parts):
            continue
        height = max((p[1].stop - p[1].start for p in parts if p), default=0)
        width = max((p[2].stop - p[2].start for p in parts if p), default=0)
        result = torch.zeros_like(evidence.expected, dtype=torch.float64)
        for first in range(programs):
            total = torch.zeros(height, width, dtype=torch.float64)
            for part in parts[first::programs]:
                if part is None:
                    continue
                expert, rows, columns = part
                mine = x[rows] @ w[expert][:, columns]
                total[: mine.shape[0], : mine.shape[1]] += mine
                result[rows, columns] = total[: mine.shape[0], : mine.shape[1]]
        if looks_like(evidence, result):
            return True
    return False
