"""The order in which tiles are launched."""

from __future__ import annotations

import torch


def launch_order(n_rows: int, n_cols: int, group: int, clamp: bool = True) -> torch.Tensor:
    """Return (row, column) of the tile of each program, in launch order.

    Groups of `group` rows are walked column by column; the last one may have fewer rows,
    which `clamp` takes into account.
    """
    program = torch.arange(n_rows * n_cols)
    width = max(1, group * n_cols)
    first = program // width * group
    size = torch.clamp(n_rows - first, max=group) if clamp else torch.full_like(first, group)
    within = program % width
    return torch.stack([first + within % size, within // size], dim=1)
