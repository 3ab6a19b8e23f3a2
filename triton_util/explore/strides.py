"""Try it: where an element of a view is in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triton_util.explore.controls import choice, follow, slider

BASE_LENGTH = 24


@dataclass(frozen=True)
class ExampleView:
    """A 2D view of 24 numbers that are contiguous in memory."""

    shape: tuple[int, int]
    strides: tuple[int, int]
    start: int = 0

    def address(self, row: int, col: int) -> int:
        return self.start + row * self.strides[0] + col * self.strides[1]


# x is torch.arange(24).view(3, 8), v is x.flatten().
VIEWS: Mapping[str, ExampleView] = {
    "x": ExampleView((3, 8), (8, 1)),
    "x.T": ExampleView((8, 3), (1, 8)),
    "x[:, :4]": ExampleView((3, 4), (8, 1)),
    "x[:, 4:]": ExampleView((3, 4), (8, 1), 4),
    "x[::2]": ExampleView((2, 8), (16, 1)),
    "x[:, ::2]": ExampleView((3, 4), (8, 2)),
    "x[1:2].expand(4, 8)": ExampleView((4, 8), (0, 1), 8),
    "v.unfold(0, 6, 3)": ExampleView((7, 6), (3, 1)),
}


def strides_text(view: str, row: int = 0, col: int = 0) -> str:
    """Shape, strides and the address of element (row, col) of one of the `VIEWS`.

    The memory is drawn as one line: an arrow points to the chosen element, and dots are elements
    outside the view. Raises KeyError for an unknown view.
    """
    chosen = VIEWS[view]
    rows, cols = chosen.shape
    lines = [f"{view}: shape {chosen.shape}, strides {chosen.strides}, starts at {chosen.start}"]
    if row >= rows or col >= cols:
        return "\n".join([*lines, "", f"There is no element ({row}, {col}): {rows} x {cols}."])
    here = chosen.address(row, col)
    used = {chosen.address(r, c) for r in range(rows) for c in range(cols)}
    owners = [(r, c) for r in range(rows) for c in range(cols) if chosen.address(r, c) == here]
    memory = "".join(f"{place:3d}" if place in used else "  ." for place in range(BASE_LENGTH))
    arrow = "   " * here + "  ^"
    lines += [
        "",
        f"address = {chosen.start} + {row} * {chosen.strides[0]} + {col} * {chosen.strides[1]}"
        f" = {here}",
        "",
        memory,
        arrow,
    ]
    if len(owners) > 1:
        others = ", ".join(str(owner) for owner in owners if owner != (row, col))
        lines.append(f"The same memory is also element {others}.")
    return "\n".join(lines)


def strides(view: str = "x", row: int = 1, col: int = 2) -> Any:
    """Controls for the view, the row and the column, and below them `strides_text`."""
    controls = {
        "view": choice("view", view, tuple(VIEWS)),
        "row": slider("row", row, 0, 7),
        "col": slider("col", col, 0, 7),
    }
    return follow(strides_text, controls)
