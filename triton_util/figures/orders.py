"""Figures of launch orders: which program takes which tile."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from triton_util.figures.drawing import Drawing, Look, cell, label, panel
from triton_util.tiling.orders import blocks_needed, grouped, row_major

MAX_SIDE = 12


def launch_orders(n_rows: int = 9, n_cols: int = 9, group: int = 3, first: int = 9) -> Drawing:
    """Row-major and grouped order side by side, the first programs marked.

    K is assumed to have n_cols blocks. Raises ValueError for more than 12 rows or columns.
    """
    if max(n_rows, n_cols) > MAX_SIDE:
        raise ValueError(f"this picture shows at most {MAX_SIDE} x {MAX_SIDE} tiles")
    figure, axes = panel(8.6, 1.2 + 0.25 * n_rows, 17.2, 2.4 + 0.5 * n_rows)
    width = min(0.85, 7.6 / n_cols)
    sentences = []
    both = (
        ("row-major", row_major(n_rows, n_cols)),
        (f"grouped by {group}", grouped(n_rows, n_cols, group)),
    )
    for index, (name, order) in enumerate(both):
        left = 0.4 + index * 8.6
        needed = blocks_needed(order[:first], n_cols)
        label(
            axes,
            left,
            0.5,
            f"{name}: first {first} programs need {needed} blocks",
            9.5,
            True,
            "left",
        )
        _order(axes, left, 1.0, width, order, first)
        sentences.append(f"{name}: the first {first} programs need {needed} blocks of a and b")
    label(
        axes,
        0.4,
        1.6 + 0.5 * n_rows,
        "number: pid; filled: the first programs to run",
        8.5,
        align="left",
        quiet=True,
    )
    alt = f"Two grids of {n_rows} by {n_cols} tiles, each tile with the id of its program. "
    return Drawing(figure, alt + "; ".join(sentences) + ".")


def launch_order(order: Sequence[Sequence[int]], first: int = 9) -> Drawing:
    """One launch order, for example a learner's own: order[pid] is (row, column).

    Tiles that no program takes are crossed out; tiles taken twice are labelled.
    """
    tiles = [(int(row), int(col)) for row, col in order]
    n_rows, n_cols = (1 + max((tile[axis] for tile in tiles), default=0) for axis in (0, 1))
    if max(n_rows, n_cols) > MAX_SIDE:
        raise ValueError(f"this picture shows at most {MAX_SIDE} x {MAX_SIDE} tiles")
    figure, axes = panel(8.6, 0.9 + 0.25 * n_rows, 17.2, 1.8 + 0.5 * n_rows)
    label(axes, 0.4, 0.5, f"{len(tiles)} programs, {n_rows} x {n_cols} tiles", 9.5, True, "left")
    _order(axes, 0.4, 1.0, 1.0, tiles, first)
    missing = n_rows * n_cols - len(set(tiles))
    label(axes, 1.0 + n_cols, 1.3, f"number: pid; filled: the first {first}", 9, align="left")
    label(axes, 1.0 + n_cols, 1.9, f"crossed: taken by nobody ({missing})", 9, align="left")
    rows = " / ".join(
        " ".join(str(tiles.index((r, c)) if (r, c) in tiles else "-") for c in range(n_cols))
        for r in range(n_rows)
    )
    alt = f"A grid of {n_rows} by {n_cols} tiles with the id of the program of each: {rows}."
    return Drawing(figure, f"{alt} {missing} tiles are taken by nobody.")


def _order(
    axes: Axes, x: float, y: float, width: float, order: Sequence[tuple[int, int]], first: int
) -> None:
    """A grid of tiles with the program ids that take them."""
    takers: dict[tuple[int, int], list[int]] = {}
    for pid, tile in enumerate(order):
        takers.setdefault(tile, []).append(pid)
    n_rows, n_cols = (1 + max((tile[axis] for tile in order), default=0) for axis in (0, 1))
    for row in range(n_rows):
        for col in range(n_cols):
            pids = takers.get((row, col), [])
            text = "+".join(str(pid) for pid in pids)
            filled: Look = "active" if pids and pids[0] < first else "plain"
            place = (x + col * width, y + row * 0.5)
            cell(axes, *place, text, filled if pids else "wrong", width, 0.5, 8)
