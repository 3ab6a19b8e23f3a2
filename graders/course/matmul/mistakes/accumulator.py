"""Mistakes of programs that take one tile after another."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch.nn.functional import pad

from graders.course.common.detectors import sides_of_tile, tiles
from graders.course.common.expected import Operands, Result
from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import looks_like
from graders.judge.records import Evidence, Misconception


def accumulator_kept(operands: Operands, finish: Result) -> Misconception:
    """Return the misconception of an accumulator that goes on from one tile to the next."""

    def detector(evidence: Evidence) -> bool:
        known, sides = tiles(evidence), sides_of_tile(evidence)
        if known is None or sides is None or evidence.actual is None:
            return False
        grid, down, across = known
        programs = math.prod(grid)
        if not 0 < programs < down * across:
            return False
        args = widened(evidence.args)
        a, b = operands(*args)
        whole = pad(a @ b, (0, across * sides[1] - b.shape[1], 0, down * sides[0] - a.shape[0]))
        for order in _orders(down, across):
            summed = _summed(whole, order, sides, programs)[: a.shape[0], : b.shape[1]]
            stored = finish(summed, *args)
            if stored is not None and looks_like(evidence, stored):
                return True
        return False

    return Misconception(
        code="accumulator-kept",
        title="The accumulator is kept from one tile to the next",
        message=(
            "The program takes several tiles, and the accumulator is set to zero once for all of "
            "them. So each later tile contains the sums of the program's earlier tiles."
        ),
        next_step=(
            "Set the accumulator to zero inside the loop over tiles, before the loop over k."
        ),
        detector=detector,
    )


def _orders(down: int, across: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the usual orders in which tiles are numbered: row after row, column after column."""
    yield [(row, column) for row in range(down) for column in range(across)]
    yield [(row, column) for column in range(across) for row in range(down)]


def _summed(
    whole: torch.Tensor, order: list[tuple[int, int]], sides: tuple[int, int], programs: int
) -> torch.Tensor:
    """Return a product whose tiles hold the sum of those that their program had before them."""
    found, (height, width) = torch.zeros_like(whole), sides
    for first in range(programs):
        total = torch.zeros(sides, dtype=whole.dtype)
        for row, column in order[first::programs]:
            rows = slice(row * height, (row + 1) * height)
            columns = slice(column * width, (column + 1) * width)
            total = total + whole[rows, columns]
            found[rows, columns] = total
    return found
