"""A small map of an output: which elements are correct, wrong, or were never stored.

A map has the shape of the result. Each of its cells represents one element, or a rectangle of
`step` elements and the share of them that is wrong. If the block of the kernel is known, cells and
rows of the map end where blocks end.
"""

from __future__ import annotations

import torch

from triton_util.report import Picture, Side

MOST_ROWS, MOST_COLUMNS = 32, 64  # cells of a map
LINE, MOST_LINES = 32, 16  # of a vector that is wrapped like lines of text
ALL_WRONG = 0.95  # from this share on numbers say more than a map
SHOWN_ROWS, SHOWN_COLUMNS = 4, 4  # of the numbers
MOST_PIXELS = 96  # along a side of a picture
NO_ELEMENT = -1.0  # fills the last row of a wrapped vector
Block = tuple[int, ...]


def draw(
    wrong: torch.Tensor,
    never_stored: torch.Tensor | None,
    values: tuple[torch.Tensor, torch.Tensor] | None = None,
    block: Block = (),
    pixels: bool = False,
) -> Picture:
    """The map of a result: `.` correct, `x` wrong, `o` never stored, `1` to `9` tenths wrong.

    wrong, never_stored: bool tensors of the result's shape, with at least one element. values: the
    actual and the expected output; `pixels`: they are a picture, to be shown as one.
    """
    vector = wrong.dim() < 2
    missing = torch.zeros_like(wrong) if never_stored is None else never_stored & wrong
    columns = _line(wrong.numel(), block) if vector else wrong.shape[-1]
    grid, holes = (_as_grid(item, columns) for item in (wrong, missing))
    known = _of_grid(block, vector, columns)
    step = (_step(grid.shape[0], MOST_ROWS, known[0]), _step(columns, MOST_COLUMNS, known[1]))
    shares = _shares(grid, step)
    sides = _sides(wrong, values, pixels)
    mapped = not sides or float(wrong.float().mean()) < ALL_WRONG
    return Picture(
        rows=_cells(shares, _shares(holes, step)) if mapped else (),
        caption=_caption(wrong, missing) + (_cell_told(step) if mapped else ""),
        shape=(int(grid.shape[0]), columns),
        step=step,
        block=known if max(known) > 1 else None,
        elements=wrong.numel() if vector else None,
        sides=sides,
    )


def _line(elements: int, block: Block) -> int:
    """How many elements of a vector one line shows: whole blocks, if those are known."""
    size = block[0] if len(block) == 1 and 1 < block[0] < elements else 0
    if size >= LINE:
        return size
    if elements > LINE * MOST_LINES:
        line = -(-elements // (MOST_LINES * LINE)) * LINE
        return line - line % size if size else line
    return min(LINE // size * size if size else LINE, elements)


def _of_grid(block: Block, vector: bool, columns: int) -> tuple[int, int]:
    """The kernel's block in the map; 0 if it is not known, or does not divide the map."""
    if vector:
        return (0, block[0]) if len(block) == 1 and block[0] < columns else (0, 0)
    return (block[0], block[1]) if len(block) == 2 else (0, 0)


def _as_grid(states: torch.Tensor, columns: int) -> torch.Tensor:
    """Two dimensions: rows of a matrix, or a vector wrapped into rows like lines of text."""
    values = states.to(torch.float32)
    if states.dim() >= 2:
        return values.reshape(-1, states.shape[-1])
    missing = -states.numel() % columns
    padded = torch.nn.functional.pad(values.reshape(-1), (0, missing), value=NO_ELEMENT)
    return padded.reshape(-1, columns)


def _step(size: int, most: int, block: int) -> int:
    """How many elements a cell represents along one side; blocks end where cells end."""
    least = -(-size // most)
    if least == 1 or block < 2:
        return max(least, 1)
    if least >= block:
        return -(-least // block) * block
    return next(step for step in range(least, block + 1) if block % step == 0)


def _shares(grid: torch.Tensor, step: tuple[int, int]) -> torch.Tensor:
    """The share of each cell's elements that is True; NaN for a cell without elements."""
    rows, columns = grid.shape
    padding = (0, -columns % step[1], 0, -rows % step[0])
    padded = torch.nn.functional.pad(grid, padding, value=NO_ELEMENT)
    high, wide = padded.shape[0] // step[0], padded.shape[1] // step[1]
    cut = padded.reshape(high, step[0], wide, step[1])
    there: torch.Tensor = (cut >= 0).sum(dim=(1, 3))
    return cut.clamp(min=0).sum(dim=(1, 3)).div(there)


def _cells(wrong: torch.Tensor, never: torch.Tensor) -> tuple[str, ...]:
    pairs = zip(wrong.tolist(), never.tolist(), strict=True)
    return tuple("".join(map(_cell, *both)) for both in pairs)


def _cell(wrong: float, never: float) -> str:
    if wrong != wrong:
        return " "
    if wrong in (0, 1):
        return "." if not wrong else "o" if never == 1 else "x"
    return str(min(max(round(wrong * 10), 1), 9))


def _caption(wrong: torch.Tensor, missing: torch.Tensor) -> str:
    count, never, of = int(wrong.sum()), int(missing.sum()), wrong.numel()
    percent = 100 * count / of
    share = "all" if count == of else f"{percent:.2g} %" if percent < 10 else f"{percent:.0f} %"
    if count < of and percent >= 99.5:
        share = "nearly all"
    told = f"{count:,} of {of:,} elements are wrong ({share})"
    if never:
        told += f"; no program stored {'any' if never == count else f'{never:,}'} of them"
    return f"{told}."


def _cell_told(step: tuple[int, int]) -> str:
    if step == (1, 1):
        return " One cell is one element."
    cell = f"{step[1]}" if step[0] == 1 else f"{step[0]} × {step[1]}"
    return f" One cell stands for {cell} elements."


def _sides(
    wrong: torch.Tensor, values: tuple[torch.Tensor, torch.Tensor] | None, pixels: bool
) -> tuple[Side, ...]:
    """The actual and the expected output: as pictures, or as the first numbers."""
    if values is None or not wrong.any():
        return ()
    names = ("got", "expected")
    if pixels and wrong.dim() == 2 and min(wrong.shape) >= SHOWN_ROWS:
        low, high = (float(limit) for limit in _limits(values[1]))
        return tuple(
            Side(name, pixels=_pixels(value, low, high))
            for name, value in zip(names, values, strict=True)
        )
    if float(wrong.float().mean()) < ALL_WRONG:
        return ()
    return tuple(Side(name, rows=_numbers(v)) for name, v in zip(names, values, strict=True))


def _limits(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    finite = values.double()[torch.isfinite(values.double())]
    return torch.aminmax(finite) if finite.numel() else (torch.zeros(()), torch.ones(()))


def _pixels(values: torch.Tensor, low: float, high: float) -> tuple[str, ...]:
    """Rows of grey levels, two hexadecimal digits for each pixel."""
    step = max(-(-max(values.shape) // MOST_PIXELS), 1)
    scaled = (values.double()[::step, ::step] - low) * (255 / ((high - low) or 1))
    levels = scaled.nan_to_num(0, 255, 0).clamp(0, 255).to(torch.uint8)
    return tuple(bytes(row).hex() for row in levels.tolist())


def _numbers(values: torch.Tensor) -> tuple[tuple[str, ...], ...]:
    """The first numbers of the first rows."""
    grid = values.reshape(-1, values.shape[-1]) if values.dim() > 1 else values.reshape(1, -1)
    return tuple(
        tuple(_number(value) for value in row[:SHOWN_COLUMNS].tolist()) for row in grid[:SHOWN_ROWS]
    )


def _number(value: float | bool) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
