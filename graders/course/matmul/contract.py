"""What the launchers of this lesson must accept."""

from __future__ import annotations

import torch

from graders.judge.cases.builders import ALL_VIEWS, FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values

AXES = {"m": Axis(), "k": Axis(high=4096), "n": Axis()}
WORK = 2**18  # products
SINGLE = (torch.float32,)
VALUES = (
    ORDINARY,
    Values(scale=1e10, dtypes=SINGLE),
    Values(scale=1e-10, dtypes=SINGLE),
    Values("zeros"),
    Values("rectified"),
)
VIEWS = ("contiguous", *ALL_VIEWS)
A, B = Tensor("m k", VIEWS, VALUES), Tensor("k n", VIEWS)
PRODUCT = Contract(AXES, {"a": A, "b": B}, FLOATS, work=WORK)
LAYER = Contract(
    AXES,
    {
        "x": A,
        "w": Tensor("n k", VIEWS),
        "b": Tensor("n", ("contiguous", "stepped_columns", "offset")),
    },
    FLOATS,
    work=WORK,
)

SIDE = Axis(high=32)
ONE_TILE = Contract(
    {"m": SIDE, "k": SIDE, "n": SIDE},
    {
        "a": Tensor("m k", ("contiguous", "offset"), VALUES),
        "b": Tensor("k n", ("contiguous", "offset")),
    },
    FLOATS,
    work=WORK,
)

CONTRACTS = {"dot_tile": ONE_TILE, "matmul": PRODUCT, "linear_bias_relu": LAYER}
