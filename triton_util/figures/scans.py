"""Figure of a scan in blocks: the scan of each block, the carry, and the sum of both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from triton_util.figures.drawing import Drawing, Look, cell, label, panel, spoken

MOST_NUMBERS = 16
LEFT, WIDTH, HEIGHT, GAP = 5.6, 1.0, 0.8, 0.5


def scans(numbers: Sequence[int], block: int) -> Drawing:
    """Draw four rows: the numbers, each block scanned alone, the carries, the running sums.

    `block` is how many numbers a block has. Raises ValueError for more than 16 numbers.
    """
    if len(numbers) > MOST_NUMBERS or block < 1:
        raise ValueError(
            f"this picture shows at most {MOST_NUMBERS} numbers, in blocks of 1 or more"
        )
    parts = [list(numbers[start : start + block]) for start in range(0, len(numbers), block)]
    before = [0, *accumulate(sum(part) for part in parts)]
    carried = [first for first, part in zip(before, parts, strict=False) for _ in part]
    rows: dict[str, tuple[list[int], Look]] = {
        "x": (list(numbers), "plain"),
        "each block scanned alone": ([n for part in parts for n in accumulate(part)], "active"),
        "carried into the block": (carried, "second"),
        "running sums": (list(accumulate(numbers)), "third"),
    }
    width = LEFT + WIDTH * len(numbers) + GAP * len(parts)
    figure, axes = panel(max(6.0, 0.45 * width), 2.4, width, 1.1 + 1.05 * len(rows))
    label(axes, 0.2, 0.4, f"blocks of {block}", 9, align="left")
    for row, (name, (values, look)) in enumerate(rows.items()):
        y = 0.9 + 1.05 * row
        label(axes, LEFT - 0.2, y + HEIGHT / 2, name, 9, align="right")
        for place, value in enumerate(values):
            x = LEFT + WIDTH * place + GAP * (place // block)
            cell(axes, x, y, str(value), look, WIDTH, HEIGHT, 9)
    told = "; ".join(f"{name}: {spoken(values)}" for name, (values, _) in rows.items())
    return Drawing(figure, f"A scan of {len(numbers)} numbers in blocks of {block}. {told}.")
