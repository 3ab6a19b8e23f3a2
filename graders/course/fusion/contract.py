"""What the launchers of this lesson must accept."""

from __future__ import annotations

from graders.judge.cases.builders import ALL_VIEWS, FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values

STACK = Tensor(
    "batch rows columns",
    ("contiguous", "interleaved", *(view for view in ALL_VIEWS if view != "overlapping")),
    (ORDINARY, Values(scale=4.0), Values(scale=50.0), Values(scale=1e-6)),
)

CONTRACTS = {
    "gelu": Contract(
        {"batch": Axis(sizes=(1, 2, 3, 5)), "rows": Axis(), "columns": Axis()}, {"x": STACK}, FLOATS
    )
}
