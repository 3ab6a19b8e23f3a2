"""What counts as solved in the lesson on experts: groups of unequal size in one launch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch

from graders.course.experts.mistakes.records import MISTAKES, ONE_LAUNCH
from graders.course.experts.reference import grouped_gemm, grouped_gemm_magnitude
from graders.judge.cases.builders import ALL_VIEWS, FLOATS, HALVES, Maker, cases
from graders.judge.records import Arg, Case, Choice, Exercise, Question, TensorSpec, View

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
    promises=(ONE_LAUNCH,),
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

EXERCISES = (GROUPED_GEMM,)

QUIZ = (
    Question(
        "`offsets` is [0, 5, 5, 12]. Which rows does expert 1 have?",
        (
            Choice(
                "Rows 0 to 4, so five.",
                "Those belong to expert 0. The rows of expert 1 begin at 5.",
            ),
            Choice(
                "Row 5 alone.",
                "The second number is not included: row 5 belongs to expert 2.",
            ),
            Choice(
                "None.",
                "Yes. Its rows begin at 5 and end before 5. Expert 2 begins at 5 as well.",
                right=True,
            ),
            Choice(
                "Rows 5 to 11.",
                "They belong to expert 2, which has the offsets 5 and 12.",
            ),
        ),
    ),
    Question(
        "A kernel divides all rows of x into tiles of 64, and each tile uses the expert of its "
        "first row. When is the result wrong?",
        (
            Choice(
                "Whenever an expert begins inside a tile.",
                "Yes. The rows from there to the end of the tile get the wrong matrix.",
                right=True,
            ),
            Choice(
                "Whenever groups have unequal sizes.",
                "Groups of 64, 192 and 128 rows are unequal, and the result is correct.",
            ),
            Choice(
                "Only if an expert has no rows, because its two offsets are equal.",
                "That does no harm here. Only where the other experts begin matters.",
            ),
            Choice(
                "Never, because masked-off rows cannot change the others.",
                "The rows are not masked off. They are multiplied by another expert's matrix.",
            ),
        ),
    ),
    Question(
        "Why does the launcher start `cdiv(t, BLOCK_M) + e` tiles, and not exactly as many as "
        "there are?",
        (
            Choice(
                "More programs keep more multiprocessors of the GPU busy.",
                "Programs without a tile return at once. They do no work.",
            ),
            Choice(
                "It knows shapes only; the number of tiles depends on `offsets`.",
                "Yes. To read it, the CPU would have to wait for the GPU in each layer.",
                right=True,
            ),
            Choice(
                "Each expert needs a tile, even an expert without rows.",
                "It does not. The e extra tiles are for tiles that are not full.",
            ),
            Choice(
                "The grid must be a multiple of the number of experts.",
                "It need not be. Programs find their expert by its prefix sum.",
            ),
        ),
    ),
    Question(
        "The prefix sums of the tiles are [3, 3, 8, 9]. A program runs `expert = tl.sum((sums "
        "<= 3).to(tl.int32))` for tile 3. Which tile of which expert is it?",
        (
            Choice(
                "The first tile of expert 1.",
                "Expert 1 has no tile: its sum equals that of expert 0.",
            ),
            Choice(
                "The last tile of expert 0.",
                "Expert 0 has the tiles 0, 1 and 2: three tiles, counted from 0.",
            ),
            Choice(
                "The fourth tile of expert 2.",
                "The three tiles before it belong to expert 0, so it is the first one of expert 2.",
            ),
            Choice(
                "The first tile of expert 2.",
                "Yes. Two sums are 3 or less, and three tiles come before it.",
                right=True,
            ),
        ),
    ),
    Question(
        "64 experts get 4 rows each, in float16. What limits the time?",
        (
            Choice(
                "Reading the weights: each matrix is read for 4 rows.",
                "Yes. That is 4 operations for each byte, and a GPU could do more than a hundred.",
                right=True,
            ),
            Choice(
                "The multiplications, most of them with rows that are masked off.",
                "There are many of those, but each tile waits for its expert's matrix.",
            ),
            Choice(
                "Starting the launch, since each expert needs one.",
                "One launch serves all experts. 64 launches would start 64 times.",
            ),
            Choice(
                "Reading x, since each row must be loaded for every expert.",
                "Each row is loaded for its own expert only, and x is small next to w.",
            ),
        ),
    ),
)
