"""What the launchers of this lesson must accept."""

from __future__ import annotations

from graders.course.randomness.exercise import LONG_SEED, VIEWS
from graders.judge.cases.builders import FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values, last_axes

ANY_VIEW = ("contiguous", "rotated", "rotated_sliced", *VIEWS)
STACK = "a batch rows columns"
FEW = Axis(sizes=(1, 2, 3), high=3)

CONTRACTS = {
    "dropout_residual": Contract(
        {"a": FEW, "batch": FEW, "rows": Axis(), "columns": Axis()},
        {
            "x": Tensor(STACK, ANY_VIEW, (ORDINARY, Values(scale=1e-6))),
            "residual": Tensor(STACK, ANY_VIEW),
            "p": "p",
            "seed": "seed",
        },
        FLOATS,
        choices={"p": (0.3, 0.0, 0.75), "seed": (7, 0, 1, LONG_SEED), "dims": (4, 1, 2, 3)},
        make=last_axes,
        work=2**15,
    )
}
