"""The sum that a program keeps when it goes on to its next row."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from graders.course.reductions.reference import row_maximum
from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import looks_like
from graders.judge.records import Evidence, LaunchFacts, Misconception

MOST_ROWS = 4096  # more of them take too long here


def _sum_goes_on(evidence: Evidence) -> bool:
    """Tell whether each row was divided by the sums of all rows that its program had so far."""
    if evidence.actual is None or evidence.expected.dim() != 2 or not evidence.launches:
        return False
    (x,) = widened(evidence.args)
    if not x.numel() or len(x) > MOST_ROWS:
        return False
    return any(
        looks_like(evidence, wrong)
        for before in _rows_before(evidence.launches[-1], len(x))
        for wrong in _divided(x, before)
    )


def _rows_before(launch: LaunchFacts, rows: int) -> Iterator[list[int]]:
    """Yield which row comes before each one in the same program, -1 for the first.

    Programs take every n-th row, or neighbouring ones; and several at once in a tile, where
    each lane has a sum of its own.
    """
    programs = math.prod(launch.grid)
    if not 0 < programs < rows:
        return
    constants = {n for n in launch.meta.values() if type(n) is int and 1 < n < rows}
    for height in sorted({1} | constants):
        tiles = -(-rows // height)
        if programs >= tiles:
            continue
        yield [max(-1, row - programs * height) for row in range(rows)]
        for length in sorted({-(-tiles // programs) * height} | constants):
            if length > height and programs == -(-rows // length):
                yield [row - height if row % length >= height else -1 for row in range(rows)]


def _divided(x: torch.Tensor, before: list[int]) -> Iterator[torch.Tensor]:
    """Yield softmaxes whose sum goes on, or whose maximum and sum do, the sum rescaled or not."""
    pairs = [(row, earlier) for row, earlier in enumerate(before) if earlier >= 0]
    own, running = row_maximum(x), row_maximum(x).clone()
    for row, earlier in pairs:
        running[row] = torch.maximum(running[row], running[earlier])
    for highest, rescaled in ((own, False), (running, True), (running, False)):
        weights = torch.exp(x - highest)
        total = weights.sum(dim=1, keepdim=True)
        for row, earlier in pairs:
            factor = torch.exp(highest[earlier] - highest[row]) if rescaled else 1.0
            total[row] += total[earlier] * factor
        yield weights / total


SUM_KEPT = Misconception(
    code="sum-kept",
    title="The sum of the previous row is kept",
    message=(
        "The program takes several rows, and the sum is set to 0 once for all of them. So "
        "each later row is divided by its own sum plus the sums of the program's earlier "
        "rows."
    ),
    next_step=(
        "Set the sum to 0.0, and the maximum to `float('-inf')`, inside the loop over rows."
    ),
    detector=_sum_goes_on,
)
