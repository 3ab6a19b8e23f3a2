"""What the launchers of this lesson must accept."""

from __future__ import annotations

import torch

from graders.course.matmul.contract import PRODUCT
from graders.judge.cases.contract import Axis, Contract

CONTRACTS = {
    "swizzle_ids": Contract(
        {"n_rows": Axis(), "n_cols": Axis(), "group": Axis()},
        {"n_rows": "n_rows", "n_cols": "n_cols", "group": "group"},
        (torch.int64,),
    ),
    "grouped_matmul": PRODUCT,
}
