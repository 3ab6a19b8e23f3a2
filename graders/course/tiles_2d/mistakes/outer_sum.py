"""The wrong results of an outer sum that known mistakes compute, and their messages."""

from __future__ import annotations

import torch

from graders.course.common.expected import computes, computes_with_block
from graders.judge.records import Misconception


def _exchanged(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor | None:
    return x[None, :] + y[:, None] if x.shape == y.shape else None


def _from_first_block(block: int, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
    first_x, first_y = (v[torch.arange(v.numel()) % block] for v in (x, y))
    return [first_x[:, None] + y, x[:, None] + first_y]


OUTER_SUM_MISTAKES = (
    Misconception(
        code="vectors-exchanged",
        places=True,
        title="x is used along the columns, and y along the rows",
        message="Element (i, j) got x[j] + y[i]. Vectors of equal length hide the bad addresses.",
        next_step=(
            "Load x with `rows` and use `x[:, None]`; load y with `cols` and use `y[None, :]`."
        ),
        rules_out=frozenset({"missing-mask"}),
        expected_wrong=computes(_exchanged),
    ),
    Misconception(
        code="one-vector-missing",
        title="Only one of the two vectors is in the result",
        message="Each element is x[i] alone, or y[j] alone: the other vector was not added.",
        next_step="Store `x[:, None] + y[None, :]`.",
        expected_wrong=computes(
            lambda x, y: x[:, None].expand(-1, y.numel()),
            lambda x, y: y.expand(x.numel(), -1),
        ),
    ),
    Misconception(
        code="wrong-operation",
        title="The two numbers are combined, but not added",
        message="The kernel uses the correct x[i] and y[j], but multiplies or subtracts them.",
        next_step="Store `x[:, None] + y[None, :]`.",
        expected_wrong=computes(
            lambda x, y: x[:, None] * y,
            lambda x, y: x[:, None] - y,
            lambda x, y: y - x[:, None],
        ),
    ),
    Misconception(
        code="load-ignores-pid",
        title="Every tile loads the first block of a vector",
        message=(
            "A vector is always loaded from its beginning, with `tl.arange` alone. So all tiles "
            "add the same few numbers."
        ),
        next_step="Load x at `x_ptr + rows` and y at `y_ptr + cols`.",
        expected_wrong=computes_with_block(_from_first_block),
    ),
)
