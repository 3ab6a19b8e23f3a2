"""The picture on a card that passed: which program stores which elements.

Masked-off lanes have a dashed outline.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

Runs = tuple[tuple[int, int], ...]  # first and last element of each contiguous run
_WIDTH, _LABEL, _BAR, _LINE = 460, 90, 12, 20  # pixels of a picture of programs
_MOST_SIDE = 260  # pixels of the longer side of a matrix
_MOST_CELL = 16
_SHADES = 3
_MOST_TOLD = 3  # runs of a program that the caption lists


@dataclass(frozen=True)
class Stores:
    """The elements of the result that one program points at, and those that its mask enables."""

    program: str
    lanes: int
    on: int
    aimed: Runs
    stored: Runs

    @property
    def told(self) -> str:
        runs = _joined(self.stored)
        places = ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in runs[:_MOST_TOLD])
        places += ", …" if len(runs) > _MOST_TOLD else ""
        lanes = f"all {self.lanes} lanes" if self.on == self.lanes else ""
        lanes = lanes or f"{self.on} of {self.lanes} lanes"
        return f"program {self.program} stores {places or 'nothing'} ({lanes})"


def _joined(runs: Runs) -> list[tuple[int, int]]:
    """The runs, with adjacent ones joined."""
    found: list[tuple[int, int]] = []
    for first, last in runs:
        if found and found[-1][1] + 1 == first:
            found[-1] = found[-1][0], last
        else:
            found.append((first, last))
    return found


@dataclass(frozen=True)
class StoreMap:
    """The stores of a kernel in one case, by the first programs and the last."""

    case: str
    shape: tuple[int, ...]
    programs: int
    rows: tuple[Stores, ...]

    @property
    def told(self) -> str:
        rows = "; ".join(row.told for row in self.rows)
        left_out = self.programs - len(self.rows)
        return f"{rows}{f'; and {left_out} more' if left_out else ''}."


def read_store_map(item: Mapping[str, Any] | None) -> StoreMap | None:
    """Read the judge's data; None when it contains nothing that can be drawn."""
    if item is None or not item["rows"]:
        return None
    rows = tuple(
        Stores(
            str(row["program"]),
            int(row["lanes"]),
            int(row["on"]),
            tuple((int(a), int(b)) for a, b in row["aimed"]),
            tuple((int(a), int(b)) for a, b in row["stored"]),
        )
        for row in item["rows"]
    )
    return StoreMap(str(item["case"]), tuple(map(int, item["shape"])), int(item["programs"]), rows)


def store_map_html(access: StoreMap) -> str:
    """The picture with its caption: a matrix of tiles, or a line for each program."""
    label = html.escape(f"Who stores what in the case {access.case}: {access.told}", quote=True)
    drawn = _tiles(access) if len(access.shape) == 2 and min(access.shape) > 1 else None
    shapes, width, height = drawn or _lines(access)
    return (
        f'<figure><svg class="tw-map tw-access" role="img" aria-label="{label}" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}">{"".join(shapes)}</svg>'
        f"<figcaption>What your programs store in the case <code>{html.escape(access.case)}</code>"
        f"{'' if drawn else ': filled; dashed: lanes that the mask switches off'}.</figcaption>"
        "</figure>"
    )


def _lines(access: StoreMap) -> tuple[list[str], float, float]:
    """A bar for each program, on one scale; a vertical line marks the end of the result."""
    count = prod(access.shape)
    end = max([count, *(last + 1 for row in access.rows for _, last in row.aimed)])
    scale = (_WIDTH - _LABEL) / max(end, 1)

    def bar(run: tuple[int, int], name: str, y: float) -> str:
        first, last = max(run[0], 0), max(run[1], -1)
        x, width = _LABEL + first * scale, max((last + 1 - first) * scale, 2)
        return f'<rect class="{name}" x="{x:.4g}" y="{y}" width="{width:.4g}" height="{_BAR}"/>'

    shapes: list[str] = []
    for number, row in enumerate(access.rows):
        y = number * _LINE + 4
        shapes.append(_words(0, y + _BAR - 2, f"program {row.program}"))
        shapes += [bar(run, "tw-lanes", y) for run in row.aimed]
        shapes += [bar(run, "tw-run", y) for run in row.stored]
    height = len(access.rows) * _LINE + 4
    at = _LABEL + count * scale
    shapes.append(f'<path class="tw-end" d="M{at:.4g} 0V{height}"/>')
    return shapes, _WIDTH, height


def _tiles(access: StoreMap) -> tuple[list[str], float, float]:
    """The matrix, with the tile of each program shaded and numbered."""
    rows, columns = access.shape
    side = min(_MOST_SIDE / max(rows, columns), 2.0 * _MOST_CELL)
    shapes = [f'<rect class="tw-lanes" width="{columns * side:.4g}" height="{rows * side:.4g}"/>']
    for number, row in enumerate(access.rows):
        pieces = list(_in_rows(row.stored, columns))
        for y, first, last in pieces:
            shapes.append(
                f'<rect class="tw-run tw-shade-{number % _SHADES}" x="{first * side:.4g}" '
                f'y="{y * side:.4g}" width="{(last + 1 - first) * side:.4g}" height="{side:.4g}"/>'
            )
        if pieces and (pieces[0][2] + 1 - pieces[0][1]) * side > 8 * len(row.program):
            y, first, _ = pieces[0]
            shapes.append(_words(first * side + 3, y * side + 13, row.program))
    return shapes, columns * side + 1, rows * side + 1


def _in_rows(runs: Runs, columns: int) -> Iterator[tuple[int, int, int]]:
    """Each run split at the ends of rows: row, first and last column."""
    for first, last in runs:
        for row in range(first // columns, last // columns + 1):
            start = row * columns
            yield row, max(first - start, 0), min(last - start, columns - 1)


def _words(x: float, y: float, text: str) -> str:
    return f'<text class="tw-words" x="{x:.4g}" y="{y:.4g}">{html.escape(text)}</text>'
