"""Try it: attention for one query, block by block, and the tiles that a causal mask leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from triton_util.explore.controls import choice, follow, slider
from triton_util.figures import attention as figures
from triton_util.figures.drawing import Drawing
from triton_util.figures.walks import attention_numbers
from triton_util.tiling.kinds import TileKind, tile_kinds

SCORES = (1.0, 0.0, 3.0, 2.0, 5.0, 1.0)
VALUES = (10.0, 20.0, 30.0, 40.0, 50.0, 60.0)

MARKS: dict[TileKind, str] = {"full": "#", "diagonal": "/", "skipped": "."}


def attention_walk_text(
    blocks: int,
    BLOCK_N: int = 2,
    query: int = 5,
    causal: bool = False,
    scores: Sequence[float] = SCORES,
    values: Sequence[float] = VALUES,
) -> str:
    """Maximum, sum and accumulator of one query after the first `blocks` blocks of keys.

    `scores` are those of this query; for brevity each value is one number. With `causal` the
    query sees only the keys 0 ... query.
    """
    total = -(-len(scores) // BLOCK_N)
    seen = query + 1 if causal else len(scores)
    lines = [
        f"query {query}, scores {_row(scores)}, values {_row(values)}",
        f"{len(scores)} keys in {total} blocks of {BLOCK_N}; it sees {seen} of them",
        "",
    ]
    largest, row_sum, accumulator = -math.inf, 0.0, 0.0
    for index in range(min(blocks, total)):
        keys = range(index * BLOCK_N, min((index + 1) * BLOCK_N, len(scores)))
        block = [scores[key] if key < seen else -math.inf for key in keys]
        if max(block) == -math.inf:
            lines.append(f"keys {_span(keys)}: all hidden, the loop has ended before this block")
            continue
        new = max(largest, *block)
        rescale = math.exp(largest - new)
        weights = [math.exp(score - new) for score in block]
        row_sum = row_sum * rescale + sum(weights)
        fresh = sum(weight * values[key] for weight, key in zip(weights, keys, strict=True))
        accumulator = accumulator * rescale + fresh
        lines += [
            f"keys {_span(keys)}: scores {_row(block)}, maximum {largest:g} -> {new:g}",
            f"  rescale by {rescale:.4f}, new weights {' '.join(f'{w:.4f}' for w in weights)}",
            f"  sum is {row_sum:.4f}, accumulator is {accumulator:.4f}",
        ]
        largest = new
    so_far = f"{accumulator / row_sum:.4f}" if row_sum else "nothing summed yet"
    lines += [
        "",
        f"accumulator / sum: {so_far}",
        f"all keys at once:  {_at_once(scores[:seen], values[:seen]):.4f}",
    ]
    return "\n".join(lines)


def _at_once(scores: Sequence[float], values: Sequence[float]) -> float:
    """Softmax of the scores times the values, computed in one step."""
    weights = [math.exp(score - max(scores)) for score in scores]
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


def _row(numbers: Sequence[float]) -> str:
    return "[" + " ".join(f"{number:g}" for number in numbers) + "]"


def _span(keys: range) -> str:
    return f"{keys.start} to {keys.stop - 1}" if len(keys) > 1 else str(keys.start)


def attention_walk(blocks: int = 1, BLOCK_N: int = 2, query: int = 5, causal: bool = False) -> Any:
    """Controls for the pass over blocks of keys, and below them `attention_walk_text`."""
    controls = {
        "blocks": slider("blocks done", blocks, 0, len(SCORES)),
        "BLOCK_N": choice("BLOCK_N", BLOCK_N, (1, 2, 4)),
        "causal": choice("causal", causal, (False, True)),
        "query": slider("query", query, 0, len(SCORES) - 1),
    }
    return follow(attention_walk_text, controls, _walked, plays="blocks")


def _walked(blocks: int, BLOCK_N: int, query: int, causal: bool) -> Drawing:
    seen = query + 1 if causal else len(SCORES)
    return attention_numbers(SCORES, VALUES, blocks, BLOCK_N, seen)


def causal_tiles_text(n: int, BLOCK_M: int = 32, BLOCK_N: int = 32) -> str:
    """The tiles of n x n scores under a causal mask, one line for each program, and their count."""
    kinds = tile_kinds(n, n, BLOCK_M, BLOCK_N, causal=True)
    lines = [
        f"{n} queries, {n} keys, tiles of {BLOCK_M} x {BLOCK_N}",
        "# full: all are seen   / diagonal: some are hidden   . skipped: all are hidden",
        "",
    ]
    for program, row in enumerate(kinds):
        queries = f"{program * BLOCK_M} to {min((program + 1) * BLOCK_M, n) - 1}"
        done = sum(kind != "skipped" for kind in row)
        marks = " ".join(MARKS[kind] for kind in row)
        lines.append(f"queries {queries:>10}  {marks}  {done} blocks of keys")
    flat = [kind for row in kinds for kind in row]
    counts = {kind: flat.count(kind) for kind in MARKS}
    computed = len(flat) - counts["skipped"]
    lines += [
        "",
        f"full {counts['full']}, diagonal {counts['diagonal']}, skipped {counts['skipped']}",
        f"computed: {computed} of {len(flat)} tiles, {computed / len(flat):.1%}",
    ]
    return "\n".join(lines)


def causal_tiles(n: int = 129, BLOCK_M: int = 32, BLOCK_N: int = 32) -> Any:
    """Controls for the sizes, and below them `causal_tiles_text`."""
    sides = (16, 32, 64, 128)
    controls = {
        "n": slider("queries and keys", n, 1, 260),
        "BLOCK_M": choice("BLOCK_M", BLOCK_M, sides),
        "BLOCK_N": choice("BLOCK_N", BLOCK_N, sides),
    }
    return follow(causal_tiles_text, controls, figures.causal_tiles, plays="n")
