"""Matrix products that are wrong tile by tile: another tile's columns, another tile's sum."""

from __future__ import annotations

import torch

from graders.judge.diagnosis.matching import close
from graders.judge.records import Evidence, Misconception
from graders.misconceptions.detectors import has_holes, sides_of_tile
from graders.misconceptions.expected import computes_with_block

MOST_TILES = 400  # of an output, where each is compared with all others


def _columns_of_row_tile(block: int, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor | None:
    """The columns of b are those that the number of the row tile names; beyond b lie zeros."""
    m, n = a.shape[0], b.shape[1]
    if block >= max(m, n) or not m or not n:
        return None
    columns = torch.arange(m)[:, None] // block * block + torch.arange(n) % block
    product = torch.nn.functional.pad(a @ b, (0, 1))
    return product.gather(1, columns.clamp(max=n))


def _sum_of_tile_before(evidence: Evidence) -> bool:
    """Each wrong tile is the right one and, added to it, what another tile holds."""
    actual, known = evidence.actual, sides_of_tile(evidence)
    if actual is None or known is None or has_holes(evidence):
        return False
    height, width = known
    rows, columns = (size // side for size, side in zip(actual.shape, known, strict=True))
    if not 1 < rows * columns <= MOST_TILES:
        return False
    places = [(i * height, j * width) for i in range(rows) for j in range(columns)]
    held = [actual[i : i + height, j : j + width].double() for i, j in places]
    due = [evidence.expected[i : i + height, j : j + width].double() for i, j in places]
    wrong = [n for n in range(len(places)) if not bool(close(held[n], due[n]).all())]
    return bool(wrong) and all(
        any(bool(close(held[n] - due[n], other).all()) for k, other in enumerate(held) if k != n)
        for n in wrong
    )


MISTAKES = (
    Misconception(
        code="columns-of-row-tile",
        title="The columns of b are taken from the number of the row tile",
        message=(
            "A tile of c is the product of its rows of a with its *columns* of b. Here the offsets "
            "into b come from the row tile, so only the tiles on the diagonal are right."
        ),
        next_step="Rows of a from `pid_m`, columns of b from `pid_n`: `offs_bn`, not `offs_am`.",
        expected_wrong=computes_with_block(_columns_of_row_tile, blocks=(16, 32, 64, 128)),
    ),
    Misconception(
        code="accumulator-kept",
        title="The sum of one tile goes on in the next",
        message=(
            "A program that takes several tiles starts each with an empty accumulator. Here the "
            "first tile of a program is right, and the next one holds the sum of both."
        ),
        next_step="Set the accumulator to zeros inside the loop over tiles.",
        detector=_sum_of_tile_before,
    ),
)
