"""What the launchers of this lesson must accept."""

from __future__ import annotations

import torch

from graders.judge.cases.builders import FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values

WIDE = (torch.float32, torch.bfloat16)  # dtypes that hold 1e30
VALUES = (ORDINARY, Values("specials"), Values(scale=1e30, dtypes=WIDE), Values("ramp"))
LINE = Tensor("n", ("contiguous", "offset"), VALUES)

CONTRACTS = {"vector_add": Contract({"n": Axis()}, {"x": LINE, "y": LINE}, FLOATS)}
