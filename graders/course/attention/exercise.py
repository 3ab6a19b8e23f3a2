"""What counts as solved in the lesson on attention."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from graders.course.attention.mistakes.lse_records import MISTAKES as LSE_MISTAKES
from graders.course.attention.mistakes.records import MISTAKES
from graders.course.attention.reference import attention, attention_lse, lse_magnitude, magnitude
from graders.judge.cases.builders import HALVES, Maker, cases
from graders.judge.records import (
    Arg,
    Case,
    Exercise,
    ReturnedTensor,
    TensorSpec,
    Tolerance,
    View,
)


def heads(causal: bool) -> Maker:
    """Return the maker of q (..., m, d), k and v (..., n, d) and the flag.

    The last three numbers of the shape are m, n and d; those before lead all three tensors.
    """

    def make(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        *lead, m, n, d = shape
        queries = TensorSpec((*lead, m, d), **spec)  # type: ignore[arg-type]
        keys = TensorSpec((*lead, n, d), **spec)  # type: ignore[arg-type]
        return queries, keys, keys, causal

    return make


FULL, CAUSAL = heads(False), heads(True)


def each_its_own(causal: bool, views: tuple[View, View, View]) -> Maker:
    """Return the maker of q, k and v that lie differently in memory."""

    def make(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        q, k, v, _ = heads(causal)(shape, **spec)
        made = zip((q, k, v), views, strict=True)
        return (*(replace(arg, view=view) for arg, view in made), causal)  # type: ignore[type-var]

    return make


def opposed(by: float) -> Maker:
    """Return the maker of q and k that point away from each other, so far in each component.

    Every score is far below zero: by √d times the square of that.
    """

    def make(shape: tuple[int, ...], **spec: Any) -> tuple[Arg, ...]:
        q, k, v, causal = heads(False)(shape, **spec)
        far = (replace(arg, shift=shift) for arg, shift in ((q, by), (k, -by)))  # type: ignore[type-var]
        return (*far, v, causal)

    return make


VIEWS: tuple[View, ...] = (
    "sliced",
    "transposed",
    "offset",
    "stepped_rows",
    "stepped_columns",
    "expanded_rows",
)
MIXED: tuple[View, View, View] = ("sliced", "transposed", "stepped_columns")


def usual_cases(axes: str, lead: tuple[int, ...]) -> tuple[Case, ...]:
    """Return full and causal cases with these leading dimensions."""
    return (
        *cases(FULL, axes, [(*lead, 64, 64, 32), (*lead, 37, 53, 16)]),
        *cases(CAUSAL, axes, [(*lead, 64, 64, 32), (*lead, 45, 45, 16)], label="causal"),
    )


# The weights are rounded to half precision for the second product: that is usual.
WEIGHTS_ROUNDED = {
    torch.float16: Tolerance(rel=2.0**-10, acc=2.0**-11, abs=2.0**-24),
    torch.bfloat16: Tolerance(rel=2.0**-7, acc=2.0**-8, abs=1e-37),
}

ATTENTION = Exercise(
    name="attention",
    lesson="attention",
    title="Attention in one kernel",
    parameters=("q", "k", "v", "causal"),
    reference=attention,
    magnitude=magnitude,
    traffic_factor=64.0,  # any tiling passes, even one output row per program
    tolerance=WEIGHTS_ROUNDED,
    cases=(
        *usual_cases("m n d", ()),
        *usual_cases("h m n d", (3,)),
        *cases(FULL, "b h m n d", [(2, 2, 40, 70, 16)]),
        *cases(FULL, "m n d", [(129, 127, 32), (20, 300, 64)], why="Ragged in m and n."),
        *cases(CAUSAL, "b h m n d", [(2, 2, 70, 70, 16)], label="causal"),
        *cases(CAUSAL, "m n d", [(129, 129, 32)], label="causal"),
        *cases(FULL, "m n d", [(24, 36, 16)], engine_orders=True),
        *cases(FULL, "a b h m n d", [(2, 1, 2, 9, 11, 16)], part="edges", why="Five dimensions."),
        *cases(FULL, "m n d", [(1, 1, 16), (1, 65, 16), (65, 1, 16), (15, 17, 16)], part="edges"),
        *cases(FULL, "h m n d", [(35, 50, 20, 16)], part="edges", why="Many tiles."),
        *cases(FULL, "m n d", [(128, 128, 16), (31, 33, 128), (0, 5, 16)], part="edges"),
        *cases(
            CAUSAL,
            "m n d",
            [(1, 1, 16), (2, 2, 16), (63, 63, 16), (65, 65, 16)],
            part="edges",
            label="causal",
        ),
        *cases(FULL, "h m n d", [(2, 40, 50, 32)], part="types", dtypes=HALVES),
        *cases(CAUSAL, "h m n d", [(2, 50, 50, 32)], part="types", dtypes=HALVES, label="causal"),
        *cases(FULL, "m n d", [(30, 90, 32)], part="types", scale=6.0, why="Large scores."),
        *cases(FULL, "m n d", [(30, 90, 32)], part="types", shift=1.5, why="Scores far from 0."),
        *cases(
            opposed(6.0),
            "m n d",
            [(30, 45, 16)],
            part="types",
            label="opposed",
            why="Every score is far below zero.",
        ),
        *cases(
            opposed(53.0),
            "m n d",
            [(20, 45, 16)],
            part="types",
            label="opposed, below -10000",
            why="Every score is below -10000: no such number can replace -inf.",
        ),
        *cases(FULL, "m n d", [(30, 40, 32)], part="types", scale=0.01, why="Tiny scores."),
        *cases(FULL, "m n d", [(30, 40, 32)], part="types", fills=["zeros"]),
        *cases(FULL, "m n d", [(22, 35, 16)], part="views", views=VIEWS),
        *cases(FULL, "b h m n d", [(2, 2, 17, 20, 16)], part="views", views=["interleaved"]),
        *cases(CAUSAL, "h m n d", [(3, 33, 33, 16)], part="views", views=["interleaved"]),
        *cases(
            each_its_own(False, MIXED), "m n d", [(25, 38, 32)], part="views", label="each its own"
        ),
        *cases(
            each_its_own(False, ("contiguous", "transposed", "contiguous")),
            "m n d",
            [(21, 29, 16)],
            part="views",
            label="only k transposed",
        ),
        *cases(
            each_its_own(True, ("transposed", "stepped_rows", "sliced")),
            "h m n d",
            [(2, 34, 34, 16)],
            part="views",
            label="each its own, causal",
        ),
    ),
    large=(
        *cases(FULL, "h m n d", [(4, 1030, 900, 64)], part="edges", why="Hundreds of blocks."),
        *cases(CAUSAL, "h m n d", [(4, 1030, 1030, 64)], part="edges", label="causal"),
    ),
    hints=(
        "The scores of one query against all keys are one row, and you see that row block by "
        "block. Which numbers must you keep from block to block? Look at the online softmax "
        "of lesson 07.",
        "For each query keep the running maximum, sum and output. When a block raises the "
        "maximum, multiply sum *and* output by exp(old - new). Before you take the maximum, "
        "set the scores of missing and future keys to -inf.",
        '`s = tl.dot(q, k.T, input_precision="ieee") * scale`, masked by `tl.where(visible, '
        "s, NEG_INF)`. `new_max = tl.maximum(row_max, tl.max(s, axis=1))`, `p = tl.exp(s - "
        "new_max[:, None])`, `rescale = tl.exp(row_max - new_max)`. Then `row_sum = row_sum * "
        "rescale + tl.sum(p, axis=1)` and `acc = acc * rescale[:, None] + "
        'tl.dot(p.to(v.dtype), v, input_precision="ieee")`. Set `row_max = new_max`. At the '
        "end `acc / row_sum[:, None]`.",
    ),
    challenge=(
        "Do not rescale the output when the maximum rises, and check again: which lengths "
        "still pass?"
    ),
    misconceptions=MISTAKES,
    parts={"core": 4, "edges": 2, "types": 2, "views": 2},
)

ATTENTION_LSE = Exercise(
    name="attention_lse",
    lesson="attention",
    title="Attention with its log-sum-exp",
    parameters=("q", "k", "v", "causal"),
    reference=attention_lse,
    results=(
        ReturnedTensor("the attention", magnitude=magnitude, tolerance=WEIGHTS_ROUNDED),
        ReturnedTensor("the log-sum-exp", torch.float32, magnitude=lse_magnitude),
    ),
    traffic_factor=64.0,
    cases=(
        *usual_cases("m n d", ()),
        *usual_cases("h m n d", (3,)),
        *cases(FULL, "b h m n d", [(2, 2, 40, 70, 16)]),
        *cases(FULL, "m n d", [(129, 127, 32), (20, 300, 64)], why="Ragged in m and n."),
        *cases(CAUSAL, "m n d", [(129, 129, 32)], label="causal"),
        *cases(FULL, "m n d", [(24, 36, 16)], engine_orders=True),
        *cases(FULL, "m n d", [(1, 1, 16), (1, 65, 16), (65, 1, 16), (0, 5, 16)], part="edges"),
        *cases(FULL, "h m n d", [(35, 50, 20, 16)], part="edges", why="Many tiles."),
        *cases(CAUSAL, "m n d", [(1, 1, 16), (65, 65, 16)], part="edges", label="causal"),
        *cases(FULL, "h m n d", [(2, 40, 50, 32)], part="types", dtypes=HALVES),
        *cases(CAUSAL, "h m n d", [(2, 50, 50, 32)], part="types", dtypes=HALVES, label="causal"),
        *cases(FULL, "m n d", [(30, 90, 32)], part="types", scale=6.0, why="Large scores."),
        *cases(
            opposed(6.0),
            "m n d",
            [(30, 45, 16)],
            part="types",
            label="opposed",
            why="Every score is far below zero.",
        ),
        *cases(FULL, "m n d", [(30, 40, 32)], part="types", fills=["zeros"]),
        *cases(FULL, "m n d", [(22, 35, 16)], part="views", views=["transposed", "sliced"]),
        *cases(each_its_own(False, MIXED), "m n d", [(25, 38, 32)], part="views", label="mixed"),
        *cases(CAUSAL, "h m n d", [(3, 33, 33, 16)], part="views", views=["interleaved"]),
    ),
    large=cases(CAUSAL, "h m n d", [(4, 1030, 1030, 64)], part="edges", label="causal"),
    hints=(
        "Your first kernel already computes both numbers that you need, and they are complete "
        "after the loop. What is `row_sum` the sum of?",
        "`row_sum` is the sum of exp(score - row_max). So the sum of exp(score) is "
        "exp(row_max) · row_sum, and its logarithm is a sum of two terms. In `lse_ptr` each "
        "head has M numbers.",
        "After the loop: `tl.store(lse_ptr + batch_and_head * M + offs_m, row_max + "
        "tl.log(row_sum), mask=offs_m < M)`. Both are float32 already.",
    ),
    challenge="Store `tl.log(row_sum)` without the maximum and check again: which rows still pass?",
    misconceptions=LSE_MISTAKES,
    parts={"core": 4, "edges": 2, "types": 2, "views": 2},
)

EXERCISES = (ATTENTION, ATTENTION_LSE)
