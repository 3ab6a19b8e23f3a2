"""What the launchers of this lesson must accept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from graders.course.matmul.contract import AXES, WORK, A, B
from graders.judge.cases.builders import ALL_VIEWS, FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Count, Row, Tensor, Values
from graders.judge.records import Plain, TensorSpec

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def around_the_bins(row: Row, args: tuple[Plain, ...]) -> tuple[Plain, ...]:
    """Numbers around the bins, some outside, within the range of the dtype."""
    x: Any = args[0]
    assert isinstance(x, TensorSpec)
    if x.fill == "rounded":
        x = replace(x, scale=row["n_bins"] / 3, shift=row["n_bins"] / 2)
    return x, row["n_bins"]


CONTRACTS = {
    "histogram": Contract(
        {"n": Axis(), "n_bins": Axis()},
        {
            "x": Tensor(
                "n",
                ("contiguous", "stepped_columns", "offset"),
                (Values("rounded"), Values("zeros"), ORDINARY),
            ),
            "n_bins": "n_bins",
        },
        INTEGERS,
        make=around_the_bins,
    ),
    "cumsum": Contract(
        {"rows": Axis(), "columns": Axis()},
        {
            "x": Tensor(
                "rows columns",
                ("contiguous", *ALL_VIEWS),
                (
                    ORDINARY,
                    Values(scale=1e10, dtypes=(torch.float32,)),
                    Values(scale=0.1, shift=1.0),
                ),
            )
        },
        FLOATS,
        sums=("columns",),
    ),
    "split_k_matmul": Contract(
        AXES,
        {"a": A, "b": B, "splits": "splits"},
        FLOATS,
        counts={"splits": Count(high=600, of="k")},
        work=WORK,
    ),
}
