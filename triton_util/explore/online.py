"""Try it: the online softmax, block by block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from triton_util.explore.controls import choice, follow, slider
from triton_util.figures.drawing import Drawing
from triton_util.figures.walks import online_numbers

ROW = (2.0, 1.0, 5.0, 3.0, 4.0, 0.0, 6.0, 2.0)


def online_softmax_text(blocks: int, BLOCK_SIZE: int = 2, row: Sequence[float] = ROW) -> str:
    """Maximum and sum of exp after the first `blocks` blocks of a row, with each rescaling.

    The sum is that of exp(x - maximum so far).
    """
    total = -(-len(row) // BLOCK_SIZE)
    lines = [f"row {list(row)} in {total} blocks of {BLOCK_SIZE}", ""]
    largest, running = -math.inf, 0.0
    for index in range(min(blocks, total)):
        block = row[index * BLOCK_SIZE : (index + 1) * BLOCK_SIZE]
        new = max(largest, *block)
        factor = math.exp(largest - new) if largest > -math.inf else 0.0
        added = sum(math.exp(x - new) for x in block)
        running = running * factor + added
        lines.append(
            f"block {list(block)}: maximum {largest:g} -> {new:g}, old sum times {factor:.4f}, "
            f"plus {added:.4f}, sum is {running:.4f}"
        )
        largest = new
    exact = sum(math.exp(x - max(row)) for x in row)
    lines += ["", f"in one piece: maximum {max(row):g}, sum {exact:.4f}"]
    return "\n".join(lines)


def online_softmax(blocks: int = 2, BLOCK_SIZE: int = 2) -> Any:
    """Controls for the number of blocks and their size, and below them `online_softmax_text`."""
    controls = {
        "blocks": slider("blocks done", blocks, 0, 8),
        "BLOCK_SIZE": choice("BLOCK_SIZE", BLOCK_SIZE, (1, 2, 4, 8)),
    }
    return follow(online_softmax_text, controls, _walked, plays="blocks")


def _walked(blocks: int, BLOCK_SIZE: int) -> Drawing:
    return online_numbers(ROW, blocks, BLOCK_SIZE)
