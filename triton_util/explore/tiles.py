"""Try it: the tile of one program in a small matrix."""

from __future__ import annotations

from typing import Any

from triton_util.explore.controls import choice, follow, slider
from triton_util.figures import tiles as figures
from triton_util.figures.drawing import Drawing

HEIGHT, WIDTH = 4, 7


def tiles_2d_text(pid_0: int, pid_1: int, BLOCK_H: int = 2, BLOCK_W: int = 2) -> str:
    """Rows, columns, offsets and mask of program (pid_0, pid_1) in a contiguous 4 x 7 matrix.

    Masked-off offsets are in brackets.
    """
    tiles = (-(-HEIGHT // BLOCK_H), -(-WIDTH // BLOCK_W))
    head = f"{HEIGHT} x {WIDTH} elements, tiles of {BLOCK_H} x {BLOCK_W}, grid {tiles}"
    if pid_0 >= tiles[0] or pid_1 >= tiles[1]:
        return f"{head}\n\nThere is no program ({pid_0}, {pid_1})."
    rows = range(pid_0 * BLOCK_H, (pid_0 + 1) * BLOCK_H)
    cols = range(pid_1 * BLOCK_W, (pid_1 + 1) * BLOCK_W)
    lines = [head, "", f"rows = {list(rows)}", f"cols = {list(cols)}", "", "offsets"]
    for row in rows:
        lines.append("  " + " ".join(_offset(row, col) for col in cols))
    lines += ["", "[ ]: masked off, because it lies outside the matrix"]
    on = sum(row < HEIGHT and col < WIDTH for row in rows for col in cols)
    return "\n".join([*lines, f"{on} of {BLOCK_H * BLOCK_W} lanes are inside"])


def _offset(row: int, col: int) -> str:
    """One offset, in brackets if it is outside the matrix."""
    offset = row * WIDTH + col
    return f" {offset:2d} " if row < HEIGHT and col < WIDTH else f"[{offset:2d}]"


def tiles_2d(pid_0: int = 0, pid_1: int = 3, BLOCK_H: int = 2, BLOCK_W: int = 2) -> Any:
    """Controls for the program and the tile, and below them `tiles_2d_text`."""
    controls = {
        "pid_0": slider("pid_0 (down)", pid_0, 0, 3),
        "pid_1": slider("pid_1 (right)", pid_1, 0, 6),
        "BLOCK_H": choice("BLOCK_H", BLOCK_H, (1, 2, 4)),
        "BLOCK_W": choice("BLOCK_W", BLOCK_W, (1, 2, 4, 8)),
    }
    return follow(tiles_2d_text, controls, _chosen, plays="pid_1")


def _chosen(pid_0: int, pid_1: int, BLOCK_H: int, BLOCK_W: int) -> Drawing | None:
    if pid_0 * BLOCK_H >= HEIGHT or pid_1 * BLOCK_W >= WIDTH:
        return None  # there is no such program, as the text says
    return figures.tiles_2d(HEIGHT, WIDTH, BLOCK_H, BLOCK_W, (pid_0, pid_1))
