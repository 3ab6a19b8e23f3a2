"""What the launchers of this lesson must accept."""

from __future__ import annotations

from graders.judge.cases.builders import ALL_VIEWS, FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values

VIEWS = ("contiguous", *ALL_VIEWS)

CONTRACTS = {
    "softmax_backward": Contract(
        {"rows": Axis(), "columns": Axis(high=2**16)},
        {
            "y": Tensor("rows columns", VIEWS),
            "dy": Tensor("rows columns", VIEWS, (ORDINARY, Values(scale=100.0), Values(shift=3.0))),
        },
        FLOATS,
        sums=("columns",),
        work=2**17,
    ),
    "linear_bias_relu_backward": Contract(
        {"m": Axis(), "k": Axis(high=4096), "n": Axis(high=4096)},
        {
            "x": Tensor("m k", VIEWS),
            "w": Tensor("n k", VIEWS),
            "out": Tensor("m n", VIEWS, (Values("rectified"),)),
            "dout": Tensor(
                "m n", VIEWS, (ORDINARY, Values(shift=1.0), Values("zeros"), Values("neg_inf"))
            ),
        },
        FLOATS,
        work=2**18,
    ),
}
