"""Figures with numbers of two passes over blocks: online softmax, and attention for one query."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes

from triton_util.figures.drawing import Drawing, Look, cell, label, panel

_LEFT, _WIDE = 2.6, 1.35  # of the cells
_COLUMNS = (0.4, 4.2, 7.4, 10.6, 13.9)  # of the table below the cells
_LINE = 0.62

Step = tuple[str, ...]


def online_numbers(row: Sequence[float], blocks: int, BLOCK_SIZE: int) -> Drawing:
    """The online softmax of a row after its first `blocks` blocks: how each changed the sum."""
    steps = list(_online(row, blocks, BLOCK_SIZE))
    total = -(-len(row) // BLOCK_SIZE)
    height = 3.5 + _LINE * (total + 1)
    figure, axes = panel(8.6, height / 2, 17.2, height)
    title = f"a row of {len(row)} in {total} blocks of {BLOCK_SIZE}, {len(steps)} of them done"
    label(axes, 0.4, 0.5, title, 10.5, bold=True, align="left")
    _cells(axes, "x", 1.1, [f"{x:g}" for x in row], BLOCK_SIZE, len(steps))
    head = ("block", "maximum", "old sum ×", "+ new", "= sum")
    _table(axes, 2.7, head, steps)
    exact = sum(math.exp(x - max(row)) for x in row)
    whole = f"in one piece: maximum {max(row):g}, sum {exact:.4f}"
    label(axes, 0.4, height - 0.5, whole, 9.5, align="left", quiet=True)
    told = "; ".join(", ".join(step) for step in steps)
    return Drawing(figure, f"{title}. Block, maximum, factor of the old sum, added, sum: {told}.")


def _online(row: Sequence[float], blocks: int, size: int) -> Iterator[Step]:
    largest, running = -math.inf, 0.0
    for start in range(0, min(blocks * size, len(row)), size):
        block = row[start : start + size]
        new = max(largest, *block)
        factor = math.exp(largest - new)
        added = sum(math.exp(x - new) for x in block)
        running = running * factor + added
        place = f"{start // size}: {' '.join(f'{x:g}' for x in block)}"
        yield place, f"{largest:g} → {new:g}", f"{factor:.4f}", f"{added:.4f}", f"{running:.4f}"
        largest = new


def attention_numbers(
    scores: Sequence[float], values: Sequence[float], blocks: int, BLOCK_N: int, seen: int
) -> Drawing:
    """Attention for one query after `blocks` blocks of keys; it sees the first `seen` keys."""
    steps = list(_attention(scores, values, blocks, BLOCK_N, seen))
    total = -(-len(scores) // BLOCK_N)
    height = 4.7 + _LINE * (total + 1)
    figure, axes = panel(8.6, height / 2, 17.2, height)
    title = f"one query, {len(scores)} keys in blocks of {BLOCK_N}; it sees {seen} of them"
    label(axes, 0.4, 0.5, title, 10.5, bold=True, align="left")
    told = [f"{score:g}" if key < seen else "hidden" for key, score in enumerate(scores)]
    _cells(axes, "scores", 1.1, told, BLOCK_N, min(blocks, total))
    _cells(axes, "values", 2.1, [f"{value:g}" for value in values], BLOCK_N, min(blocks, total))
    head = ("keys", "maximum", "rescale by", "sum", "accumulator")
    _table(axes, 3.7, head, [step[:5] for step in steps])
    result = steps[-1][5] if steps else "nothing yet"
    below = f"accumulator / sum: {result}; all keys at once: {_at_once(scores[:seen], values):.4f}"
    label(axes, 0.4, height - 0.5, below, 9.5, bold=True, align="left")
    words = "; ".join(", ".join(step[:5]) for step in steps)
    return Drawing(figure, f"{title}. Keys, maximum, rescale, sum, accumulator: {words}. {below}.")


def _attention(
    scores: Sequence[float], values: Sequence[float], blocks: int, size: int, seen: int
) -> Iterator[Step]:
    largest, total, accumulator = -math.inf, 0.0, 0.0
    for start in range(0, min(blocks * size, len(scores)), size):
        keys = [key for key in range(start, min(start + size, len(scores))) if key < seen]
        if not keys:
            return  # the loop of a causal program ends before this block
        new = max(largest, *(scores[key] for key in keys))
        rescale = math.exp(largest - new)
        weights = [math.exp(scores[key] - new) for key in keys]
        total = total * rescale + sum(weights)
        fresh = sum(weight * values[key] for weight, key in zip(weights, keys, strict=True))
        accumulator = accumulator * rescale + fresh
        yield (
            " ".join(map(str, keys)),
            f"{largest:g} → {new:g}",
            f"{rescale:.4f}",
            f"{total:.4f}",
            f"{accumulator:.4f}",
            f"{accumulator / total:.4f}",
        )
        largest = new


def _at_once(scores: Sequence[float], values: Sequence[float]) -> float:
    weights = [math.exp(score - max(scores)) for score in scores]
    return sum(w * v for w, v in zip(weights, values, strict=False)) / sum(weights)


def _cells(axes: Axes, name: str, y: float, texts: Sequence[str], size: int, done: int) -> None:
    """A row of cells in blocks: finished ones are hatched, and the last of them is filled."""
    label(axes, 0.4, y + 0.4, name, 10, bold=True, align="left")
    for place, text in enumerate(texts):
        block = place // size
        look: Look = "plain" if block >= done else "active" if block == done - 1 else "idle"
        x = _LEFT + place * _WIDE + 0.18 * block
        cell(axes, x, y, text, look, _WIDE, 0.8, 9.5, bold=look == "active")


def _table(axes: Axes, y: float, head: Sequence[str], steps: Sequence[Step]) -> None:
    for number, line in enumerate((head, *steps)):
        for x, text in zip(_COLUMNS, line, strict=True):
            at = y + number * _LINE
            label(axes, x, at, text, 9.5, bold=number == len(steps), align="left", quiet=not number)
