"""What the launchers of this lesson must accept."""

from __future__ import annotations

from graders.judge.cases.builders import ALL_VIEWS, FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values

AXES = {"rows": Axis(), "columns": Axis(high=2**16)}
WORK = 2**17  # elements: a few rows longer than the longest block
SCORES = (
    ORDINARY,
    Values(scale=100.0),
    Values(shift=-300.0),
    Values("neg_inf"),
    Values("neg_inf_head"),
    Values("neg_inf_tail"),
    Values("rising"),
    Values("falling"),
    Values("rising_rows"),
    Values("falling_rows"),
)
PARAMETER = Tensor("columns", ("contiguous", "stepped_columns", "offset"))

CONTRACTS = {
    "row_sum": Contract(
        AXES,
        {
            "x": Tensor(
                "rows columns",
                ("contiguous", *ALL_VIEWS),
                (ORDINARY, Values("rising"), Values("falling_rows"), Values(shift=-300.0)),
            )
        },
        FLOATS,
        sums=("columns",),
        work=WORK,
    ),
    "softmax": Contract(
        AXES,
        {"x": Tensor("rows columns", ("contiguous", *ALL_VIEWS), SCORES)},
        FLOATS,
        sums=("columns",),
        work=WORK,
    ),
    "layernorm": Contract(
        AXES,
        {
            "x": Tensor(
                "rows columns",
                ("contiguous", *ALL_VIEWS),
                (
                    ORDINARY,
                    Values(shift=100.0),
                    Values(scale=100.0),
                    Values("rising"),
                    Values("rising_rows"),
                ),
            ),
            "weight": PARAMETER,
            "bias": PARAMETER,
            "eps": "eps",
        },
        FLOATS,
        choices={"eps": (1e-5, 0.5)},
        sums=("columns",),
        work=WORK,
    ),
}
