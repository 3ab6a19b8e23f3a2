"""What the launchers of this lesson must accept."""

from __future__ import annotations

import torch

from graders.judge.cases.builders import ALL_VIEWS, ANY_DTYPE
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values

MATRIX = Tensor("rows columns", ("contiguous", *ALL_VIEWS), (ORDINARY, Values("specials")))
ANY_MATRIX = Contract(
    {"rows": Axis(), "columns": Axis()}, {"x": MATRIX}, (torch.float32, *ANY_DTYPE)
)

CONTRACTS = {"strided_copy": ANY_MATRIX, "transpose": ANY_MATRIX}
