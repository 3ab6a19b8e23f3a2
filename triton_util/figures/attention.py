"""Figures of attention in one kernel: the pass over the keys, and the tiles of a causal mask."""

from __future__ import annotations

from matplotlib.axes import Axes

from triton_util.figures.drawing import Drawing, Look, arrow, cell, label, panel
from triton_util.tiling.kinds import TileKind, tile_kinds

MAX_TILES = 12
KIND_LOOKS: dict[TileKind, Look] = {"full": "active", "diagonal": "second", "skipped": "idle"}


def attention_walk(blocks: int = 5, step: int = 2) -> Drawing:
    """One program of attention in step `step` of its pass over `blocks` blocks of keys.

    Queries left, keys above, values below, the running results on the right. Raises ValueError
    for more than 6 blocks or a step that does not exist.
    """
    if not 0 <= step < blocks <= 6:
        raise ValueError("at most 6 blocks of keys, and a step among them")
    figure, axes = panel(8.6, 4.1, 17.2, 8.2)
    head = f"one program, step {step}: block {step} of the keys, then the same block of the values"
    label(axes, 0.4, 0.5, head, 10.5, bold=True, align="left")
    left, width = 4.1, 7.2 / blocks
    cell(axes, 0.4, 3.2, "q\nBLOCK_M × d\nloaded once", "third", 2.5, 1.5, 9.5)
    for index in range(blocks):
        now = index == step
        look: Look = "active" if now else "idle" if index < step else "plain"
        x = left + index * width
        cell(axes, x, 1.2, f"k {index}", look, width, 1.3, 9.5, bold=now)
        cell(axes, x, 3.2, "scores" if now else "", look, width, 1.5, 9.5, bold=now)
        cell(axes, x, 5.4, f"v {index}", look, width, 1.3, 9.5, bold=now)
    middle = left + (step + 0.5) * width
    label(axes, 2.95, 1.85, "keys", 10, align="left")
    label(axes, 2.95, 6.05, "values", 10, align="left")
    arrow(axes, (2.95, 3.95), (left - 0.05, 3.95))
    arrow(axes, (middle, 2.5), (middle, 3.2))
    arrow(axes, (middle, 4.7), (middle, 5.4))
    arrow(axes, (left + 7.25, 3.95), (12.25, 3.95))
    _kept(axes, 12.3)
    legend = (
        "hatched: done with, and gone   ·   bold, filled: in this step   ·   white: to come",
        "No score is stored to memory. Where a step raises the maximum, row_sum and accumulator "
        "are rescaled.",
    )
    for line, text in enumerate(legend):
        label(axes, 0.4, 7.2 + 0.55 * line, text, 9.5, align="left")
    alt = (
        f"A block of queries stands on the left and is loaded once. Above lie {blocks} blocks of "
        f"keys, below the {blocks} blocks of values. In step {step} the program multiplies its "
        f"queries with block {step} of the keys, which gives one tile of scores, and the weights "
        f"made of them with block {step} of the values. Earlier tiles are gone, later ones are "
        "still to come; no score is stored. On the right stands what is kept from step to step: a "
        "maximum and a sum for each query, and an accumulator of BLOCK_M by d numbers. Where a "
        "step raises the maximum, sum and accumulator are rescaled."
    )
    return Drawing(figure, alt)


def _kept(axes: Axes, x: float) -> None:
    """The values that a program carries from step to step."""
    label(axes, x, 1.5, "kept from step to step", 10, bold=True, align="left")
    cell(axes, x, 2.0, "row_max: one for each query", "third", 4.4, 0.8, 9)
    cell(axes, x, 2.95, "row_sum: one for each query", "third", 4.4, 0.8, 9)
    cell(axes, x, 3.9, "accumulator: BLOCK_M × d", "third", 4.4, 1.5, 9)
    label(axes, x, 6.05, "in the end: accumulator / row_sum", 9, align="left")


def causal_tiles(n: int = 256, BLOCK_M: int = 64, BLOCK_N: int = 32) -> Drawing:
    """The tiles of n x n scores under a causal mask: full, diagonal, skipped, by program.

    Raises ValueError for more than 12 rows or columns of tiles.
    """
    kinds = tile_kinds(n, n, BLOCK_M, BLOCK_N, causal=True)
    n_rows, n_cols = len(kinds), len(kinds[0])
    if max(n_rows, n_cols) > MAX_TILES:
        raise ValueError(f"this picture shows at most {MAX_TILES} rows and columns of tiles")
    width, height = min(1.5, 12.4 / n_cols), min(0.8, 6.4 / n_rows)
    bottom = 2.0 + n_rows * height
    figure, axes = panel(8.6, (bottom + 1.4) / 2, 17.2, bottom + 1.4)
    head = f"{n} queries, {n} keys, tiles of {BLOCK_M} × {BLOCK_N}"
    label(axes, 0.4, 0.5, head, 10.5, bold=True, align="left")
    label(axes, 4.4, 1.15, "blocks of keys: the walk of each program →", 9.5, align="left")
    for row, of_program in enumerate(kinds):
        y = 1.6 + row * height
        label(axes, 4.2, y + height / 2, f"queries from {row * BLOCK_M}", 9.5, align="right")
        for col, kind in enumerate(of_program):
            cell(axes, 4.4 + col * width, y, kind, KIND_LOOKS[kind], width, height, 9)
    counts = {kind: sum(row.count(kind) for row in kinds) for kind in KIND_LOOKS}
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    computed = counts["full"] + counts["diagonal"]
    below = (
        f"{told}: {computed} of {n_rows * n_cols} tiles are computed",
        "full: every query sees every key  ·  diagonal: some keys are hidden  ·  "
        "skipped: never loaded",
    )
    for line, text in enumerate(below):
        label(axes, 0.4, bottom + 0.25 + 0.55 * line, text, 9.5, align="left")
    rows = "; ".join(
        f"queries from {index * BLOCK_M}: {', '.join(row)}" for index, row in enumerate(kinds)
    )
    alt = (
        f"A grid of {n_rows} by {n_cols} tiles of scores under a causal mask, one row of tiles for "
        f"each program. {rows}. In all {told}."
    )
    return Drawing(figure, alt)
