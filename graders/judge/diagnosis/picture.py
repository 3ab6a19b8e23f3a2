"""A small map of an output: which elements are right, wrong, or were never stored."""

from __future__ import annotations

import torch

from graders.judge.report import Picture

PICTURE_ROWS, PICTURE_COLUMNS = 12, 32
NO_ELEMENT = -1  # fills the last row of a wrapped vector
CELLS = {NO_ELEMENT: " ", 0: ".", 1: "x", 2: "o"}


def draw(wrong: torch.Tensor, never_stored: torch.Tensor | None) -> Picture:
    """The map of a result: `.` right, `x` wrong value, `o` never stored.

    wrong, never_stored: bool tensors of the result's shape, with at least one element.
    """
    states = wrong.to(torch.int8)
    if never_stored is not None:
        states = torch.where(never_stored, torch.tensor(2, dtype=torch.int8), states)
    grid = _as_grid(states)
    reduced = _reduce(grid)
    rows = tuple("".join(CELLS[value] for value in row) for row in reduced.tolist())
    return Picture(rows, _caption(wrong, grid, reduced))


def _as_grid(states: torch.Tensor) -> torch.Tensor:
    """Two dimensions: rows of a matrix, or a vector wrapped into rows like lines of text."""
    if states.dim() >= 2:
        return states.reshape(-1, states.shape[-1])
    columns = min(PICTURE_COLUMNS, states.numel())
    missing = -states.numel() % columns
    padded = torch.nn.functional.pad(states.reshape(-1), (0, missing), value=NO_ELEMENT)
    return padded.reshape(-1, columns)


def _reduce(grid: torch.Tensor) -> torch.Tensor:
    """The worst state of each cell when the grid is too large to draw element by element."""
    rows, columns = min(PICTURE_ROWS, grid.shape[0]), min(PICTURE_COLUMNS, grid.shape[1])
    pooled = torch.nn.functional.adaptive_max_pool2d(grid[None].float(), (rows, columns))
    return pooled[0].to(torch.int8)


def _caption(wrong: torch.Tensor, grid: torch.Tensor, reduced: torch.Tensor) -> str:
    share = f"{int(wrong.sum())} of {wrong.numel()} output elements differ from the reference"
    if grid.shape == reduced.shape:
        return f"{share}; one cell is one element."
    return f"{share}; one cell covers several elements and shows the worst of them."
