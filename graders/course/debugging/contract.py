"""What the launchers of this lesson must accept."""

from __future__ import annotations

import torch

from graders.judge.cases.builders import ANY_DTYPE
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values

LINE = Tensor("n", ("contiguous", "offset"), (ORDINARY, Values("specials"), Values("ramp")))

CONTRACTS = {"copy": Contract({"n": Axis()}, {"x": LINE}, (torch.float32, *ANY_DTYPE))}
