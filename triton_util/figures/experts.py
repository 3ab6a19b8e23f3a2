"""Figure of rows that belong to experts, split into tiles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from triton_util.figures.drawing import Drawing, cell, label, panel, spoken

MOST_TILES, WIDEST_TILE = 12, 16
LEFT, WIDTH, HEIGHT = 5.6, 1.0, 0.8

Lanes = list[tuple[int, bool]]  # the row of each lane, and whether it belongs to the tile's expert


def expert_tiles(lengths: Sequence[int], block: int = 4, by_expert: bool = True) -> Drawing:
    """The tiles of `block` rows of experts, whose numbers of rows are `lengths`: a strip per tile.

    With `by_expert` each expert has tiles of its own. Without, all rows are split as if they
    belonged together, and a tile has the expert of its first row. Raises ValueError for more
    than 12 tiles or more than 16 rows in a tile.
    """
    tiles = _of_each_expert(lengths, block) if by_expert else _of_all_rows(lengths, block)
    if len(tiles) > MOST_TILES or block > WIDEST_TILE:
        raise ValueError(f"this picture shows at most {MOST_TILES} tiles of {WIDEST_TILE} rows")
    width, height = LEFT + WIDTH * block + 0.4, 1.6 + HEIGHT * len(tiles)
    figure, axes = panel(max(5.0, 0.5 * width), 0.5 * height, max(10.0, width), height)
    title = f"experts with {spoken(list(lengths))} rows, tiles of {block}"
    label(axes, 0.2, 0.5, title, 9.5, True, "left")
    told, strangers = [], []
    for number, (expert, lanes) in enumerate(tiles):
        y = 1.0 + HEIGHT * number
        name = f"tile {number}: expert {expert}"
        label(axes, LEFT - 0.2, y + HEIGHT / 2, name, 9, align="right")
        for lane in range(block):
            row, own = lanes[lane] if lane < len(lanes) else (None, True)
            text = "" if row is None else str(row) if own else f"{row} !"
            look = "idle" if row is None else "active" if own else "wrong"
            cell(axes, LEFT + WIDTH * lane, y, text, look, WIDTH, HEIGHT, 8.5)  # type: ignore[arg-type]
        told.append(f"tile {number} has expert {expert} and rows {spoken([r for r, _ in lanes])}")
        strangers += [row for row, own in lanes if not own]
    words = f"with another expert's matrix: rows {spoken(strangers)}" if strangers else ""
    label(axes, 0.2, height - 0.25, words or "each row is with its own expert", 9, align="left")
    ending = f" In all, {words} (marked !)." if words else " Each row is with its own expert."
    return Drawing(figure, f"{title.capitalize()}: {'; '.join(told)}.{ending}")


def _of_each_expert(lengths: Sequence[int], block: int) -> list[tuple[int, Lanes]]:
    return [
        (expert, [(row, True) for row in range(first, min(first + block, end))])
        for expert, (start, end) in enumerate(pairwise(accumulate(lengths, initial=0)))
        for first in range(start, end, block)
    ]


def _of_all_rows(lengths: Sequence[int], block: int) -> list[tuple[int, Lanes]]:
    owners = [expert for expert, length in enumerate(lengths) for _ in range(length)]
    return [
        (owners[first], [(r, owners[r] == owners[first]) for r in range(first, last)])
        for first in range(0, len(owners), block)
        for last in [min(first + block, len(owners))]
    ]
