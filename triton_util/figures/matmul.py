"""Figures of a matrix product computed in tiles."""

from __future__ import annotations

from matplotlib.axes import Axes

from triton_util.figures.drawing import Drawing, Look, arrow, cell, label, panel

MAX_SIDE = 12
SIDE = 0.46


def matmul_tiles(
    M: int = 6,
    N: int = 7,
    K: int = 10,
    BLOCK: int = 4,
    pid_m: int = 1,
    pid_n: int = 1,
    step: int = 2,
) -> Drawing:
    """One step of one program: the tile of a, the tile of b, and the tile of c that it fills.

    Tiles are BLOCK x BLOCK. Raises ValueError for a side above 12 elements.
    """
    if max(M, N, K) > MAX_SIDE:
        raise ValueError(f"this picture shows matrices of at most {MAX_SIDE} rows and columns")
    padded = {name: -(-size // BLOCK) * BLOCK for name, size in (("M", M), ("N", N), ("K", K))}
    left, top = 3.0 + padded["K"] * SIDE + 1.2, 1.3 + padded["K"] * SIDE + 0.8
    figure, axes = panel(
        8.6, (top + padded["M"] * SIDE + 1.5) / 2, 17.2, top + padded["M"] * SIDE + 1.5
    )
    rows, cols, inner = ((start * BLOCK, (start + 1) * BLOCK) for start in (pid_m, pid_n, step))
    _grid(axes, 3.0, top, (M, K), (rows, inner), f"a  ({M} x {K})", band="row")
    _grid(axes, left, 1.0, (K, N), (inner, cols), f"b  ({K} x {N})", band="col")
    _grid(axes, left, top, (M, N), (rows, cols), f"c  ({M} x {N})", band="none")
    legend = (
        f"program ({pid_m}, {pid_n}), step {step} along K",
        "filled: in the tile now",
        "dotted: the program's other steps",
        "crossed: lanes of the tile outside the",
        "matrix, to be masked",
    )
    for line, text in enumerate(legend):
        label(axes, 0.5, 1.2 + 0.6 * line, text, 10, bold=line == 0, align="left")
    arrow(axes, (3.0 + padded["K"] * SIDE + 0.1, top + 1.2), (left - 0.15, top + 1.2))
    alt = (
        f"Matrix a with {M} rows and {K} columns stands left of c, matrix b with {K} rows and "
        f"{N} columns above c. Program ({pid_m}, {pid_n}) computes rows {rows[0]} to "
        f"{rows[1] - 1} and columns {cols[0]} to {cols[1] - 1} of c. In step {step} it uses "
        f"columns {inner[0]} to {inner[1] - 1} of a and the same rows of b. Lanes beyond row "
        f"{M - 1}, column {N - 1} or inner index {K - 1} lie outside and must be masked."
    )
    return Drawing(figure, alt)


def _grid(
    axes: Axes,
    x: float,
    y: float,
    shape: tuple[int, int],
    tile: tuple[tuple[int, int], tuple[int, int]],
    title: str,
    band: str,
) -> None:
    """One matrix, its current tile, and the band that the program passes over."""
    (row_low, row_high), (col_low, col_high) = tile
    label(axes, x, y - 0.3, title, 10, bold=True, align="left")
    for row in range(max(shape[0], row_high)):
        for col in range(max(shape[1], col_high)):
            inside = row < shape[0] and col < shape[1]
            in_rows, in_cols = row_low <= row < row_high, col_low <= col < col_high
            look: Look = "plain"
            if in_rows and in_cols:
                look = "active" if inside else "wrong"
            elif not inside:
                continue
            elif (band == "row" and in_rows) or (band == "col" and in_cols):
                look = "second"
            cell(axes, x + col * SIDE, y + row * SIDE, "", look, SIDE, SIDE)


def tile_reuse(tiles: tuple[int, ...] = (1, 16, 32, 64, 128), n: int = 4096) -> Drawing:
    """How often a square matmul of side n loads each element of a, by tile size."""
    figure, axes = panel(8.6, 0.7 + 0.33 * len(tiles), 17.2, 1.4 + 0.66 * len(tiles))
    label(
        axes,
        0.3,
        0.45,
        f"{n} x {n} matmul: how often each element is loaded (each doubling equally long)",
        bold=True,
        align="left",
    )
    sentences = []
    for index, tile in enumerate(tiles):
        y, times = 1.0 + 0.66 * index, n // tile
        width = 10.5 * times.bit_length() / n.bit_length()  # every doubling has the same length
        label(axes, 3.6, y + 0.25, f"tile {tile} x {tile}", align="right")
        cell(axes, 3.8, y, "", "active", width, 0.5)
        label(axes, 3.95 + width, y + 0.25, f"{times:,} times", 10, True, "left")
        sentences.append(f"tile {tile}: {times} times")
    alt = f"Bars on a logarithmic scale, a {n} by {n} matmul. Each element is loaded, for "
    return Drawing(figure, alt + "; ".join(sentences) + ".")
