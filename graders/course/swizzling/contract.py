"""What the launchers of this lesson must accept."""

from __future__ import annotations

import torch

from graders.course.matmul.contract import PRODUCT
from graders.judge.cases.contract import Axis, Contract

TILES = Axis(high=60_000)  # along one side of a matrix

CONTRACTS = {
    "swizzle_ids": Contract(
        {"n_rows": TILES, "n_cols": TILES, "group": TILES},
        {"n_rows": "n_rows", "n_cols": "n_cols", "group": "group"},
        (torch.int64,),
    ),
    "grouped_matmul": PRODUCT,
}
