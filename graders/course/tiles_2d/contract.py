"""What the launchers of this lesson must accept."""

from __future__ import annotations

import torch

from graders.course.tiles_2d.exercise import PICTURE_VIEWS
from graders.judge.cases.builders import ALL_VIEWS, FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values
from graders.judge.records import View

WIDE = (torch.float32, torch.bfloat16)  # dtypes that hold 1e30
PICTURE = Tensor(
    "3 height width",
    ("contiguous", "rotated", "rotated_sliced", *PICTURE_VIEWS),
    (ORDINARY, Values("specials"), Values("ramp"), Values(scale=1e30, dtypes=WIDE)),
)
MATRIX = Tensor(
    "m n", ("contiguous", *ALL_VIEWS), (ORDINARY, Values(scale=1e30, dtypes=WIDE), Values("rising"))
)
BIAS = Tensor("n", ("contiguous", "stepped_columns", "offset"), (ORDINARY, Values(shift=-3.0)))

VECTOR_VIEWS: tuple[View, ...] = ("contiguous", "offset")
VECTOR_VALUES = (ORDINARY, Values("rising"), Values(scale=1e30, dtypes=WIDE))

CONTRACTS = {
    "outer_sum": Contract(
        {"m": Axis(), "n": Axis()},
        {
            "x": Tensor("m", VECTOR_VIEWS, VECTOR_VALUES),
            "y": Tensor("n", VECTOR_VIEWS, VECTOR_VALUES),
        },
        FLOATS,
    ),
    "rgb2grey": Contract(
        {"height": Axis(), "width": Axis()}, {"img": PICTURE}, (*FLOATS, torch.uint8)
    ),
    "bias_relu": Contract({"m": Axis(), "n": Axis()}, {"x": MATRIX, "bias": BIAS}, FLOATS),
}
