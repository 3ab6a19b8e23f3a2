"""Try it: the order in which programs take the tiles of a product, and how many loads it saves."""

from __future__ import annotations

from typing import Any

from triton_util.explore.controls import follow, slider
from triton_util.figures.orders import launch_orders
from triton_util.tiling.orders import blocks_needed, grouped, row_major


def orders_text(n_rows: int, n_cols: int, group: int, first: int = 9) -> str:
    """Which program takes which tile in grouped order, and what the first programs need.

    K has as many blocks as there are columns of tiles. Tiles of the first `first` programs are in
    brackets.
    """
    order = grouped(n_rows, n_cols, group)
    place = {tile: pid for pid, tile in enumerate(order)}
    lines = [f"{n_rows} x {n_cols} tiles in groups of {group} rows; each number is a pid", ""]
    for row in range(n_rows):
        pids = (place[row, col] for col in range(n_cols))
        lines.append(" ".join(f"[{pid:2d}]" if pid < first else f" {pid:2d} " for pid in pids))
    needed = blocks_needed(order[:first], n_cols)
    plain = blocks_needed(row_major(n_rows, n_cols)[:first], n_cols)
    lines += [
        "",
        f"blocks that the first {min(first, len(order))} programs need: {needed}",
        f"the same in row-major order: {plain}",
    ]
    return "\n".join(lines)


def orders(n_rows: int = 9, n_cols: int = 9, group: int = 3, first: int = 9) -> Any:
    """Controls for the tiles and the group, the figure of both orders, and `orders_text`."""
    controls = {
        "n_rows": slider("rows of tiles", n_rows, 1, 12),
        "n_cols": slider("columns of tiles", n_cols, 1, 12),
        "group": slider("group", group, 1, 12),
        "first": slider("first programs", first, 1, 36),
    }
    return follow(orders_text, controls, launch_orders, plays="first")
