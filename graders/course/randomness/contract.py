"""What the launchers of this lesson must accept."""

from __future__ import annotations

from graders.course.randomness.exercise import LONG_SEED, VIEWS
from graders.judge.cases.builders import FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values

ANY_VIEW = ("contiguous", *VIEWS)
STACK = "batch rows columns"

CONTRACTS = {
    "dropout_residual": Contract(
        {"batch": Axis(sizes=(1, 2, 3)), "rows": Axis(), "columns": Axis()},
        {
            "x": Tensor(STACK, ANY_VIEW, (ORDINARY, Values(scale=1e-6))),
            "residual": Tensor(STACK, ANY_VIEW),
            "p": "p",
            "seed": "seed",
        },
        FLOATS,
        choices={"p": (0.3, 0.0, 0.75), "seed": (7, 0, 1, LONG_SEED)},
    )
}
