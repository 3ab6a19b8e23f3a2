"""The map of right, wrong and missing elements, drawn and in words.

The three states differ in shape as well as in colour: a dot, a cross on a filled square, and
an empty ring.
"""

from __future__ import annotations

import html
import textwrap

from triton_util.client.phrases import PICTURE_LEGEND
from triton_util.client.report import Picture

_CELL = 16  # pixels of one cell
_MOST_ROWS, _MOST_COLUMNS = 48, 64  # what the judge sends is smaller; more is cut off
_TEXT = {".": "·", "x": "×", "o": "○"}


def states(picture: Picture) -> list[str]:
    """The states that occur, in the order of the legend."""
    cells = "".join(picture.rows)
    return [state for state in PICTURE_LEGEND if state in cells]


def picture_text(picture: Picture) -> str:
    """The map in characters, a legend and the caption."""
    rows = [" ".join(_TEXT.get(cell, cell) for cell in row) for row in _cut(picture)]
    legend = "   ".join(f"{_TEXT[state]} {PICTURE_LEGEND[state]}" for state in states(picture))
    return "\n".join([*rows, legend, textwrap.fill(picture.caption, 88)])


def picture_svg(picture: Picture) -> str:
    """The map as an inline SVG with alternative text; colours come from the card."""
    rows = _cut(picture)
    height, width = len(rows), max((len(row) for row in rows), default=0)
    counts = {state: "".join(picture.rows).count(state) for state in PICTURE_LEGEND}
    told = ", ".join(f"{count} {PICTURE_LEGEND[state]}" for state, count in counts.items() if count)
    label = html.escape(f"{picture.caption} Cells of the map: {told}.", quote=True)
    cells = "".join(
        cell_svg(state, column * _CELL, row * _CELL)
        for row, text in enumerate(rows)
        for column, state in enumerate(text)
    )
    return (
        f'<svg class="tw-map" role="img" aria-label="{label}" width="{width * _CELL}" '
        f'height="{height * _CELL}" viewBox="0 0 {width * _CELL} {height * _CELL}">{cells}</svg>'
    )


def legend_html(picture: Picture) -> str:
    """What the shapes of the map mean; only those that occur."""
    items = "".join(
        f'<li><svg aria-hidden="true" width="{_CELL}" height="{_CELL}">{cell_svg(state, 0, 0)}'
        f"</svg> {PICTURE_LEGEND[state]}</li>"
        for state in states(picture)
    )
    return f'<ul class="tw-legend">{items}</ul>'


def cell_svg(state: str, x: int, y: int) -> str:
    """One cell with its upper left corner at (x, y)."""
    size = _CELL - 2
    box = f'x="{x + 1}" y="{y + 1}" width="{size}" height="{size}" rx="2"'
    middle_x, middle_y = x + _CELL / 2, y + _CELL / 2
    if state == ".":
        dot = f'<circle class="tw-dot" cx="{middle_x:g}" cy="{middle_y:g}" r="1.8"/>'
        return f'<rect class="tw-right" {box}/>{dot}'
    if state == "x":
        low_x, low_y, high_x, high_y = x + 5, y + 5, x + _CELL - 5, y + _CELL - 5
        cross = (
            f"M{low_x:g} {low_y:g}L{high_x:g} {high_y:g}M{high_x:g} {low_y:g}L{low_x:g} {high_y:g}"
        )
        return f'<rect class="tw-wrong" {box}/><path class="tw-cross" d="{cross}"/>'
    ring = f'<circle class="tw-ring" cx="{middle_x:g}" cy="{middle_y:g}" r="3.4"/>'
    return f'<rect class="tw-never" {box}/>{ring}'


def _cut(picture: Picture) -> list[str]:
    return [row[:_MOST_COLUMNS] for row in picture.rows[:_MOST_ROWS]]
