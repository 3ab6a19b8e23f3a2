"""What counts as solved in the lesson on experts: groups of unequal size in one launch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch

from graders.course.experts.mistakes.records import MISTAKES, ONE_LAUNCH
from graders.course.experts.reference import grouped_gemm, grouped_gemm_magnitude
from graders.judge.cases.builders import ALL_VIEWS, FLOATS, HALVES, Maker, cases
from graders.judge.records import Arg, Case, Exercise, TensorSpec, View

VIEWS: tuple[View, ...] = tuple(view for view in ALL_VIEWS if view != "overlapping")
VIEWS_OF_W: tuple[View, ...] = (*VIEWS, "interleaved")


def routed(lengths: Sequence[int], x: View | None = None, w: View | None = None) -> Maker:
    """Return the maker of x, w and offsets for experts with so many rows each.

    x, w: the view of that tensor alone.
    """

    def make(shape: tuple[int, ...], **spec: Any) -> tuple[Arg, ...]:
        k, n = shape
        bounds = tuple(accumulate(lengths, initial=0))
        return (
            TensorSpec((bounds[-1], k), **{**spec, "view": x or spec["view"]}),
            TensorSpec((len(lengths), k, n), **{**spec, "view": w or spec["view"]}),
            TensorSpec((len(bounds),), torch.int32, values=bounds),
        )

    return make


def mixed(
    lengths: Sequence[int],
    *shapes: tuple[int, int],
    times: int = 1,
    x: View | None = None,
    w: View | None = None,
    also: str = "",
    **more: Any,
) -> tuple[Case, ...]:
    """Return the cases of experts with so many rows each, `times` over, for these (k, n)."""
    rows = f"rows {', '.join(map(str, lengths))}" + (f" {times} times" if times > 1 else "")
    make = routed(tuple(lengths) * times, x, w)
    return cases(make, "k n", shapes, label=f"{rows}{also}", **more)


UNEQUAL = "Experts with unequal numbers of rows, and tiles that are not full."
ACROSS = "A tile would contain rows of two experts."
NONE = "An expert without rows."

GROUPED_GEMM = Exercise(
    name="grouped_gemm",
    lesson="experts",
    title="A mixture of experts in one launch",
    parameters=("x", "w", "offsets"),
    reference=grouped_gemm,
    magnitude=grouped_gemm_magnitude,
    traffic_factor=64.0,  # any tiling passes, even one row per program
    cases=(
        *mixed((128, 128), (64, 64), why="Two experts, each with whole tiles."),
        *mixed((64, 64, 64, 64), (64, 64), why="Equally many rows for each expert."),
        *mixed((64, 128, 0, 256), (64, 64), why=NONE),
        *mixed((70, 5, 130, 33), (40, 50), why=UNEQUAL),
        *mixed((3, 200, 17), (64, 64), why=ACROSS),
        *mixed((40, 41), (50, 50), why=ACROSS),
        *mixed((0, 30, 0, 0, 45, 9, 0), (33, 70), why=NONE),
        *mixed((1, 2, 3, 4, 5, 6, 7, 8), (32, 40), why="Many experts with a few rows each."),
        *mixed((100,), (200, 30), why="One expert alone: a matrix product."),
        *mixed((260, 1, 1, 1), (20, 150), why="One expert has nearly all rows."),
        *mixed((1, 1, 300), (45, 45), why="The last expert has nearly all rows."),
        *mixed((20, 0, 13), (40, 20), draws=2, engine_orders=True),
        *mixed((1,), (1, 1), (64, 1), (1, 33), part="edges"),
        *mixed((15, 16, 17), (16, 16), part="edges", why="Sizes around 16."),
        *mixed((31, 33, 65, 63), (31, 33), part="edges", why="Sizes around 32 and 64."),
        *mixed((129, 127), (65, 129), part="edges", why="Sizes around 128."),
        *mixed((0, 0, 0, 0, 3, 2, 0), (17, 19), part="edges", why="Fewer rows than experts."),
        *mixed((1,), (24, 20), times=37, part="edges", why="More experts than rows in a tile."),
        *mixed((2, 0, 1), (16, 16), times=45, part="edges", why="More than a hundred experts."),
        *mixed((5000, 40, 3500), (8, 16), part="edges", why="More tiles than a fixed grid has."),
        *mixed((0, 0, 0), (7, 9), part="edges", why="No rows at all."),
        *mixed((5, 4), (7, 0), part="edges", why="No columns: nothing to compute."),
        *mixed((5, 4), (0, 7), part="edges", why="An empty sum is 0."),
        *mixed((20, 0, 37), (50, 60), part="types", dtypes=HALVES),
        *mixed(
            (18, 14),
            (256, 32),
            part="types",
            fills=["cancelling"],
            dtypes=FLOATS,
            why="Large products whose sum nearly cancels.",
        ),
        *mixed((20, 20), (40, 40), part="types", scale=1e10, why="Large numbers."),
        *mixed((20, 20), (40, 40), part="types", scale=1e-10, why="Tiny numbers."),
        *mixed((25, 0, 15), (48, 36), part="views", views=VIEWS),
        *mixed(
            (25, 15),
            (40, 40),
            part="views",
            x="overlapping",
            w="contiguous",
            also=", x overlapping",
        ),
        *mixed(
            (30, 6),
            (36, 36),
            part="views",
            w="contiguous",
            views=["transposed", "sliced"],
            also=", x alone",
        ),
        *mixed(
            (30, 6, 9), (36, 36), part="views", x="contiguous", views=VIEWS_OF_W, also=", w alone"
        ),
        *mixed((30, 6), (33, 31), part="views", dtypes=HALVES, views=["transposed"]),
    ),
    large=mixed(
        (700, 0, 1300, 5, 2100, 64, 1, 930), (517, 1031), part="edges", why="Thousands of tiles."
    ),
    hints=(
        "A program must find out two things: the expert of its tile, and which of that "
        "expert's tiles it is. Write down the number of tiles of each expert of (70, 5, 130, "
        "33), and the prefix sums. What do the sums say about tile 5?",
        "In `rows_of_tile` use a lane for each expert: `starts`, `ends`, and `tiles = "
        "tl.cdiv(ends - starts, BLOCK_M)`. The expert is the number of prefix sums "
        "`tl.cumsum(tiles)` that are `<= tile`. In the kernel mask the rows with the expert's "
        "`end`, and add `expert * stride_we` to `w_ptr`.",
        "`expert = tl.sum((tl.cumsum(tiles) <= tile).to(tl.int32))`; `tiles_before = "
        "tl.sum(tl.where(experts < expert, tiles, 0))`; `start` and `end` likewise from "
        "`experts == expert`; `row = start + (tile - tiles_before) * BLOCK_M`. In the kernel: "
        "`if expert < n_experts:`, `offs_m = row + tl.arange(0, BLOCK_M)`, `offs_m < end`, "
        "`expert.to(tl.int64) * stride_we`.",
    ),
    challenge="Launch `cdiv(t, BLOCK_M)` tiles without the `+ n_experts`: which cases still pass?",
    misconceptions=MISTAKES,
    requirements=(ONE_LAUNCH,),
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

EXERCISES = (GROUPED_GEMM,)
