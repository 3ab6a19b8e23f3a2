"""What the launchers of this lesson must accept."""

from __future__ import annotations

import torch

from graders.course.matmul.contract import PRODUCT
from graders.judge.cases.contract import Axis, Contract, Count, Row

TILES = Axis(high=60_000)  # along one side of a matrix
LARGEST = 2**31  # a group has fewer tiles


def within_32_bits(row: Row) -> Row | None:
    """The row, if the number of tiles of a group is a 32-bit number."""
    return row if row["group"] * row["n_cols"] < LARGEST else None


CONTRACTS = {
    "swizzle_ids": Contract(
        {"n_rows": TILES, "n_cols": TILES},
        {"n_rows": "n_rows", "n_cols": "n_cols", "group": "group"},
        (torch.int64,),
        counts={"group": Count(high=2**20, of="n_rows")},
        adjust=within_32_bits,
        work=2**12,
    ),
    "grouped_matmul": PRODUCT,
}
