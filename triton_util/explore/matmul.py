"""Try it: the pass of one program over the tiles of a matrix product."""

from __future__ import annotations

from typing import Any

from triton_util.explore.controls import choice, follow, slider
from triton_util.figures.drawing import Drawing
from triton_util.figures.matmul import matmul_tiles

M, N, K = 7, 10, 9


def matmul_walk_text(pid_m: int, pid_n: int, step: int, BLOCK: int = 4) -> str:
    """What program (pid_m, pid_n) loads in one step of the loop over K.

    a is 7 x 9, b is 9 x 10, tiles are BLOCK x BLOCK. In the maps `#` is in the tile, `x` is in
    the tile but outside the matrix (to be masked), `.` is the rest of the matrix.
    """
    programs = (-(-M // BLOCK), -(-N // BLOCK))
    steps = -(-K // BLOCK)
    head = f"c has {programs[0]} x {programs[1]} tiles of {BLOCK} x {BLOCK}, K takes {steps} steps"
    if pid_m >= programs[0] or pid_n >= programs[1]:
        return f"{head}\n\nThere is no program ({pid_m}, {pid_n})."
    if step >= steps:
        return f"{head}\n\nThere is no step {step}: the loop has ended."
    rows, cols, inner = (range(i * BLOCK, (i + 1) * BLOCK) for i in (pid_m, pid_n, step))
    lines = [
        head,
        "",
        f"offs_m = {list(rows)}   inside: {_inside(rows, M)}",
        f"offs_n = {list(cols)}   inside: {_inside(cols, N)}",
        f"offs_k = {list(inner)}   inside: {_inside(inner, K)}",
        "",
        *_map("a", M, K, rows, inner),
        "",
        *_map("b", K, N, inner, cols),
        "",
        "# loaded now   x in the tile, outside the matrix: masked off   . the rest of the matrix",
    ]
    return "\n".join(lines)


def _inside(offsets: range, size: int) -> str:
    """How many of the offsets are inside the matrix."""
    return f"{sum(offset < size for offset in offsets)} of {len(offsets)} (size {size})"


def _map(name: str, n_rows: int, n_cols: int, rows: range, cols: range) -> list[str]:
    """One matrix as lines of characters."""
    lines = [f"{name} ({n_rows} x {n_cols})"]
    for row in range(max(n_rows, rows.stop)):
        marks = []
        for col in range(max(n_cols, cols.stop)):
            exists = row < n_rows and col < n_cols
            if row in rows and col in cols:
                marks.append("#" if exists else "x")
            else:
                marks.append("." if exists else " ")
        lines.append("   " + " ".join(marks).rstrip())
    return lines


def matmul_walk(pid_m: int = 0, pid_n: int = 0, step: int = 0, BLOCK: int = 4) -> Any:
    """Controls for the program, the step and the tile, and below them `matmul_walk_text`."""
    controls = {
        "pid_m": slider("pid_m", pid_m, 0, 3),
        "pid_n": slider("pid_n", pid_n, 0, 4),
        "step": slider("step along K", step, 0, 4),
        "BLOCK": choice("BLOCK", BLOCK, (2, 4, 8)),
    }
    return follow(matmul_walk_text, controls, _walked, plays="step")


def _walked(pid_m: int, pid_n: int, step: int, BLOCK: int) -> Drawing | None:
    if pid_m * BLOCK >= M or pid_n * BLOCK >= N or step * BLOCK >= K:
        return None  # there is no such program or step, as the text says
    return matmul_tiles(M, N, K, BLOCK, pid_m, pid_n, step)
