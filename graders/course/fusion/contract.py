"""What the launchers of this lesson must accept."""

from __future__ import annotations

import torch

from graders.course.fusion.exercise import VIEWS_3D
from graders.judge.cases.builders import FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values, last_axes

# For large negative numbers the result is 0, up to the tolerance: a small share of x. A kernel that
# clips the argument of exp at -10 leaves 2e-9 x, less than the rounding of 1 + tanh in float32.
LARGE = Values(scale=1e30, dtypes=(torch.float32, torch.bfloat16))

STACK = Tensor(
    "a batch rows columns",
    (
        "contiguous",
        "interleaved",
        "rotated",
        "rotated_sliced",
        *VIEWS_3D,
    ),
    (ORDINARY, Values(scale=4.0), Values(scale=50.0), Values(scale=1e-6), LARGE),
)

FEW = Axis(sizes=(1, 2, 3), high=3)

CONTRACTS = {
    "gelu": Contract(
        {"a": FEW, "batch": FEW, "rows": Axis(), "columns": Axis()},
        {"x": STACK},
        FLOATS,
        choices={"dims": (4, 1, 2, 3)},
        make=last_axes,
        work=2**15,
    )
}
