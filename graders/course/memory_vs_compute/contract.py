"""What the launchers of this lesson must accept."""

from __future__ import annotations

from graders.judge.cases.builders import FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Row, Tensor, Values

MATRIX = Tensor(
    "rows columns",
    ("contiguous", "offset", "sliced"),
    (ORDINARY, Values("specials"), Values("ramp")),
)


def one_row_if_sliced(row: Row) -> Row:
    """A single row counts as contiguous whatever its stride, and several sliced rows do not."""
    return {**row, "rows": 1} if row["x.view"] == "sliced" else row


CONTRACTS = {
    "relu2d": Contract(
        {"rows": Axis(), "columns": Axis()}, {"x": MATRIX}, FLOATS, adjust=one_row_if_sliced
    )
}
