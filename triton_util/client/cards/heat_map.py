"""The picture on a failing card: where the result is wrong, and which values came out.

States differ in shape as well as in colour. In a cell that shows one element they are a dot, a
cross and an empty ring. In a cell that shows many elements, a bar's length is the wrong fraction.
"""

from __future__ import annotations

import base64
import html
import itertools
import struct
import textwrap
import zlib
from collections.abc import Iterator

from triton_util.client.phrases import PICTURE_LEGEND
from triton_util.report import Picture, Side

_CELL = 16  # pixels of a cell that shows one element
_WIDE, _HIGH, _LEAST = 440, 300, 28  # pixels: largest width and height, and smallest side
_LEFT, _TOP, _EDGE = 46, 20, 10  # pixels for the ticks, and to the right and below
_MOST_ROWS, _MOST_COLUMNS = 48, 64  # the judge sends fewer; more is cut off
_MOST_BLOCKS = 33  # along a side; more lines would hide the map
_TEXT = {".": "·", "x": "×", "o": "○"}
_TENTHS = "123456789"
_WIDEST_TEXT = 36  # cells, with a space between them


def states(picture: Picture) -> list[str]:
    """The states that occur in the picture, in the order of the legend."""
    cells = "".join(picture.rows)
    return [state for state in PICTURE_LEGEND if state in cells]


def picture_text(picture: Picture) -> str:
    """The picture in characters, a legend and the caption."""
    if _says_it_by_numbers(picture):
        lines = list(itertools.chain.from_iterable(map(_numbers_text, picture.sides)))
        return "\n".join([*lines, textwrap.fill(picture.caption, 76)])
    if not picture.rows:
        return textwrap.fill(picture.caption, 76)
    gap = " " if max(map(len, picture.rows), default=0) <= _WIDEST_TEXT else ""
    rows = [gap.join(_TEXT.get(cell, cell) for cell in row) for row in _cut(picture)]
    told = [f"{_TEXT[state]} {PICTURE_LEGEND[state]}" for state in states(picture)]
    told += ["1 to 9: tenths wrong"] if _has_tenths(picture) else []
    return "\n".join([*rows, "   ".join(told), textwrap.fill(picture.caption, 76)])


def picture_html(picture: Picture) -> str:
    """The figure: the map, or both lists of numbers when nearly everything is wrong."""
    shown = []
    if any(side.pixels for side in picture.sides):
        shown.append(_pictures(picture.sides))
    if _says_it_by_numbers(picture):
        shown.append(_numbers(picture.sides))
    if picture.rows:
        shown.append(f"{picture_svg(picture)}{legend_html(picture)}")
    caption = f"<figcaption>{html.escape(picture.caption)}</figcaption>"
    return f"<figure>{''.join(shown)}{caption}</figure>"


def picture_svg(picture: Picture) -> str:
    """The map as an inline SVG with alternative text; colours come from the card."""
    rows = _cut(picture)
    height, width = picture.shape or (len(rows), max((len(row) for row in rows), default=0))
    scale_x, scale_y = _scales(picture, height, width)
    shapes = [
        *_cells(rows, picture.step, (height, width), (scale_x, scale_y)),
        *_borders(picture.block, (height, width), (scale_x, scale_y)),
        *_ticks(picture, (height, width), (scale_x, scale_y)),
    ]
    wide, high = _LEFT + width * scale_x + _EDGE, _TOP + height * scale_y + _EDGE
    label = html.escape(f"{picture.caption} Cells of the map: {_counted(picture)}.", quote=True)
    return (
        f'<svg class="tw-map" role="img" aria-label="{label}" width="{wide:g}" height="{high:g}" '
        f'viewBox="0 0 {wide:g} {high:g}">{"".join(shapes)}</svg>'
    )


def legend_html(picture: Picture) -> str:
    """The legend: what the shapes of the map mean, for those that occur."""
    small = f'<svg aria-hidden="true" width="{_CELL}" height="{_CELL}">'
    items = [
        f"<li>{small}{_cell(state, 0, 0, _CELL, _CELL)}</svg> {PICTURE_LEGEND[state]}</li>"
        for state in states(picture)
    ]
    if _has_tenths(picture):
        items.append(f"<li>{small}{_cell('5', 0, 0, _CELL, _CELL)}</svg> partly wrong</li>")
    if picture.block:
        line = f'<path class="tw-block" d="M0 {_CELL / 2:g}H{_CELL}"/>'
        items.append(f"<li>{small}{line}</svg> end of a block</li>")
    return f'<ul class="tw-legend">{"".join(items)}</ul>'


def _says_it_by_numbers(picture: Picture) -> bool:
    return any(side.rows for side in picture.sides)


def _has_tenths(picture: Picture) -> bool:
    return any(cell in _TENTHS for row in picture.rows for cell in row)


def _counted(picture: Picture) -> str:
    cells = "".join(picture.rows)
    counts = {PICTURE_LEGEND[state]: cells.count(state) for state in PICTURE_LEGEND}
    counts["partly wrong"] = sum(cell in _TENTHS for cell in cells)
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def _scales(picture: Picture, height: int, width: int) -> tuple[float, float]:
    """Pixels per element: the same along both sides, unless the map would become too thin.

    The lines of a vector have their own height.
    """
    if picture.elements is not None:
        return min(_WIDE / max(width, 1), _CELL), min(_HIGH / max(height, 1), _CELL)
    scale = min(_WIDE / max(width, 1), _HIGH / max(height, 1), _CELL)
    return max(scale, _LEAST / max(width, 1)), max(scale, _LEAST / max(height, 1))


def _cells(
    rows: list[str], step: tuple[int, int], shape: tuple[int, int], scales: tuple[float, float]
) -> Iterator[str]:
    """The cells; neighbours in the same state and without a sign of their own form one shape."""
    (height, width), (scale_x, scale_y) = shape, scales
    signs = min(step[1] * scale_x, step[0] * scale_y) >= 9
    for row, text in enumerate(rows):
        top, bottom = row * step[0], min((row + 1) * step[0], height)
        column = 0
        for state, same in itertools.groupby(text):
            count = len(list(same))
            pieces = [1] * count if signs else [count]
            for piece in pieces:
                left, right = column * step[1], min((column + piece) * step[1], width)
                column += piece
                if state != " ":
                    x, y = _LEFT + left * scale_x, _TOP + top * scale_y
                    yield _cell(
                        state, x, y, (right - left) * scale_x, (bottom - top) * scale_y, signs
                    )


def _cell(state: str, x: float, y: float, width: float, height: float, signs: bool = True) -> str:
    """One cell with its upper left corner at (x, y)."""
    gap = 1 if signs else 0
    box = _box(x + gap, y + gap, width - 2 * gap, height - 2 * gap)
    middle_x, middle_y, arm = x + width / 2, y + height / 2, min(width, height) / 2 - 5
    right = f'<rect class="tw-right{"" if signs else " tw-flat"}" {box}/>'
    if state == ".":
        dot = f'<circle class="tw-dot" cx="{middle_x:g}" cy="{middle_y:g}" r="1.8"/>'
        return right + dot if signs else right
    if state in _TENTHS:
        share = int(state) / 10 * (height - 2 * gap)
        filled = _box(x + gap, y + height - gap - share, width - 2 * gap, share)
        return f'{right}<rect class="tw-part" {filled}/>'
    if state == "x":
        wrong = f'<rect class="tw-wrong" {box}/>'
        if not signs or arm < 1:
            return wrong
        cross = "".join(
            f"M{middle_x - arm:g} {middle_y - way * arm:g}L{middle_x + arm:g} "
            f"{middle_y + way * arm:g}"
            for way in (1, -1)
        )
        return f'{wrong}<path class="tw-cross" d="{cross}"/>'
    ring = f'<circle class="tw-ring" cx="{middle_x:g}" cy="{middle_y:g}" r="3.4"/>'
    never = f'<rect class="tw-never" {box}/>'
    return never + ring if signs else never


def _box(x: float, y: float, width: float, height: float) -> str:
    return f'x="{x:.4g}" y="{y:.4g}" width="{max(width, 0.5):.4g}" height="{max(height, 0.5):.4g}"'


def _borders(
    block: tuple[int, int] | None, shape: tuple[int, int], scales: tuple[float, float]
) -> Iterator[str]:
    """Lines at the borders between the kernel's blocks."""
    (height, width), (scale_x, scale_y) = shape, scales
    down, across = block or (0, 0)
    if across and width / across <= _MOST_BLOCKS:
        for column in range(across, width, across):
            x = _LEFT + column * scale_x
            yield f'<path class="tw-block" d="M{x:.4g} {_TOP}v{height * scale_y:.4g}"/>'
    if down and height / down <= _MOST_BLOCKS:
        for row in range(down, height, down):
            y = _TOP + row * scale_y
            yield f'<path class="tw-block" d="M{_LEFT} {y:.4g}h{width * scale_x:.4g}"/>'


def _ticks(picture: Picture, shape: tuple[int, int], scales: tuple[float, float]) -> Iterator[str]:
    """Numbers along the sides: rows and columns, or the first element of each line of a vector."""
    (height, width), (scale_x, scale_y) = shape, scales
    down, across = picture.block or (0, 0)
    for column in _marks(width, across, 44 / scale_x):
        x = _LEFT + (column + 0.5) * scale_x
        yield f'<text class="tw-tick" x="{x:.4g}" y="{_TOP - 6}">{column}</text>'
    line = width if picture.elements is not None else 1
    for row in _marks(height, down, 15 / scale_y):
        y = _TOP + (row + 0.5) * scale_y + 4
        yield (f'<text class="tw-tick tw-side" x="{_LEFT - 6}" y="{y:.4g}">{row * line}</text>')


def _marks(size: int, block: int, apart: float) -> list[int]:
    """The positions along a side that get a number: some starts of blocks, and the last one."""
    if size <= 0:
        return []
    step = block or 1
    while step < apart:
        step *= 2
    last = size - 1
    return [mark for mark in range(0, size, step) if last - mark >= apart or mark == 0] + (
        [last] if last >= apart else []
    )


def _numbers(sides: tuple[Side, ...]) -> str:
    """The first numbers of the result, beside the expected ones."""
    tables = "".join(
        f"<table><caption>{html.escape(side.name)}</caption><tbody>"
        + "".join(
            "<tr>" + "".join(f"<td>{html.escape(value)}</td>" for value in row) + "</tr>"
            for row in side.rows
        )
        + "</tbody></table>"
        for side in sides
    )
    return f'<div class="tw-sides">{tables}</div>'


def _numbers_text(side: Side) -> Iterator[str]:
    widest = max((len(value) for row in side.rows for value in row), default=0)
    for number, row in enumerate(side.rows):
        name = side.name if not number else ""
        yield f"{name:<9}" + "  ".join(value.rjust(widest) for value in row)


def _pictures(sides: tuple[Side, ...]) -> str:
    shown = "".join(
        f'<figure><img alt="The picture: {html.escape(side.name, quote=True)}" '
        f'width="{_zoomed(side)}" src="data:image/png;base64,{_png(side.pixels)}">'
        f"<figcaption>{html.escape(side.name)}</figcaption></figure>"
        for side in sides
    )
    return f'<div class="tw-sides">{shown}</div>'


def _zoomed(side: Side) -> int:
    """The width of a picture in CSS pixels."""
    height, width = len(side.pixels), max(len(side.pixels[0]) // 2, 1) if side.pixels else 1
    return max(round(width * min(200 / width, 160 / max(height, 1))), 1)


def _png(rows: tuple[str, ...]) -> str:
    """A grey picture as base64-encoded PNG; "" if the rows are not a picture."""
    try:
        lines = [bytes.fromhex(row) for row in rows]
    except ValueError:
        return ""
    if not lines or len({len(line) for line in lines}) > 1:
        return ""
    head = struct.pack(">IIBBBBB", len(lines[0]), len(lines), 8, 0, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + line for line in lines))
    parts = ((b"IHDR", head), (b"IDAT", data), (b"IEND", b""))
    made = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
    return base64.b64encode(made).decode("ascii")


def _cut(picture: Picture) -> list[str]:
    return [row[:_MOST_COLUMNS] for row in picture.rows[:_MOST_ROWS]]
