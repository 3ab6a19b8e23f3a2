"""Matrix products that are wrong tile by tile: the columns of another tile."""

from __future__ import annotations

import torch

from graders.course.common.expected import computes_with_block
from graders.judge.records import Misconception


def _columns_of_row_tile(block: int, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor | None:
    """The columns of b are those that the number of the row tile names; beyond b lie zeros."""
    m, n = a.shape[0], b.shape[1]
    if block >= max(m, n) or not m or not n:
        return None
    columns = torch.arange(m)[:, None] // block * block + torch.arange(n) % block
    product = torch.nn.functional.pad(a @ b, (0, 1))
    return product.gather(1, columns.clamp(max=n))


MISTAKES = (
    Misconception(
        code="columns-of-row-tile",
        title="The columns of b are computed from the row tile",
        message=(
            "The offsets into b come from the row tile, so only the tiles on the diagonal are "
            "correct."
        ),
        next_step=(
            "Compute the rows of a from `pid_m` and the columns of b from `pid_n`: `offs_n`, "
            "not `offs_m`."
        ),
        expected_wrong=computes_with_block(_columns_of_row_tile, blocks=(16, 32, 64, 128)),
    ),
)
