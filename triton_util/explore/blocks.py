"""Try it: how a vector is split into blocks, seen from one program."""

from __future__ import annotations

from typing import Any

from triton_util.explore.controls import choice, follow, slider

BLOCK_SIZES = (1, 2, 4, 8, 16)
MAX_ELEMENTS = 40


def blocks_1d_text(n_elements: int, BLOCK_SIZE: int, pid: int = 0) -> str:
    """What program `pid` computes when `n_elements` are split into blocks of `BLOCK_SIZE`.

    One line per program, then pid, offsets and mask of the chosen one. Raises ValueError for a
    BLOCK_SIZE that is not a power of two, as Triton does.
    """
    if BLOCK_SIZE < 1 or BLOCK_SIZE & (BLOCK_SIZE - 1):
        raise ValueError(f"BLOCK_SIZE must be a power of two, not {BLOCK_SIZE}")
    n_programs = -(-n_elements // BLOCK_SIZE)
    lines = [f"cdiv({n_elements}, {BLOCK_SIZE}) = {n_programs} programs", ""]
    for program in range(n_programs):
        mark = ">" if program == pid else " "
        lines.append(f"{mark} program {program:2d}  {_lanes(n_elements, BLOCK_SIZE, program)}")
    lines.append("")
    if pid >= n_programs:
        last = f"the last one is {n_programs - 1}" if n_programs else "nothing is launched"
        return "\n".join([*lines, f"There is no program {pid}: {last}."])
    offsets = [pid * BLOCK_SIZE + lane for lane in range(BLOCK_SIZE)]
    mask = [offset < n_elements for offset in offsets]
    lines += [
        f"pid         = {pid}",
        f"block_start = {pid} * {BLOCK_SIZE} = {pid * BLOCK_SIZE}",
        f"offsets     = {offsets}",
        f"mask        = {mask}",
        f"{sum(mask)} of {BLOCK_SIZE} lanes do useful work",
    ]
    return "\n".join(lines)


def _lanes(n_elements: int, BLOCK_SIZE: int, program: int) -> str:
    """The offsets of one program; a dot where the mask is false."""
    offsets = range(program * BLOCK_SIZE, (program + 1) * BLOCK_SIZE)
    return " ".join(f"{offset:2d}" if offset < n_elements else " ." for offset in offsets)


def blocks_1d(n_elements: int = 7, BLOCK_SIZE: int = 4, pid: int = 0) -> Any:
    """Three controls, n_elements, BLOCK_SIZE and pid, and below them `blocks_1d_text`."""
    controls = {
        "n_elements": slider("n_elements", n_elements, 0, MAX_ELEMENTS),
        "BLOCK_SIZE": choice("BLOCK_SIZE", BLOCK_SIZE, BLOCK_SIZES),
        "pid": slider("pid", pid, 0, 19),
    }
    return follow(blocks_1d_text, controls)
