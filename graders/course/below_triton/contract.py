"""What the launchers of this lesson must accept."""

from __future__ import annotations

from graders.judge.cases.builders import FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values

CONTRACTS = {
    "scale_rows": Contract(
        {"m": Axis(), "n": Axis()},
        {
            "x": Tensor("m n", ("contiguous", "offset"), (ORDINARY, Values("rising"))),
            "s": Tensor("m"),
        },
        FLOATS,
    )
}
