"""What counts as solved in the lesson on atomics and scans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from graders.course.atomics_and_scans import reference as references
from graders.course.atomics_and_scans.mistakes import count_records, scan_records, split_records
from graders.judge.cases.builders import ALL_VIEWS, FLOATS, HALVES, Maker, cases, one
from graders.judge.records import Arg, Case, Exercise, TensorSpec

BEYOND = 2**32  # what 32 bits cannot hold


def with_bins(n_bins: int) -> Maker:
    """Return the maker of a vector of numbers that are counted in so many bins."""

    def make(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        return TensorSpec(tuple(shape), **spec), n_bins  # type: ignore[arg-type]

    return make


def counted(sizes: Sequence[int], n_bins: int, *, also: str = "", **more: Any) -> tuple[Case, ...]:
    """Return the cases of so many numbers in so many bins: rounded int64 ones, if not told so."""
    usual = {"fills": ["rounded"], "dtypes": [torch.int64], "label": f"{n_bins} bins{also}"}
    return cases(with_bins(n_bins), "n", sizes, **{**usual, **more})


OUTSIDE = "Some numbers are below 0 or above the last bin: do not count them."
NARROW = "Many numbers meet in each bin: no addition may be lost."

HISTOGRAM = Exercise(
    name="histogram",
    lesson="atomics_and_scans",
    title="Count into bins",
    parameters=("x", "n_bins"),
    reference=references.histogram,
    dtype=torch.int32,
    traffic_factor=32.0,  # blocks of bins that read all of x pass, a program for each bin does not
    cases=(
        *counted([1000, 4096, 5000], 256, fills=["normal"], dtypes=[torch.uint8]),
        *counted([1000, 3000], 100, scale=3, shift=50, dtypes=[torch.int32], why=NARROW),
        *counted([1000, 4096, 5000], 100, scale=20, shift=40, why=OUTSIDE),
        *counted([900], 64, scale=40, shift=32, dtypes=[torch.int32], why=OUTSIDE),
        *counted([20_011], 1000, scale=200, shift=500, why="Many blocks, whatever their size."),
        *counted([5000], 3, fills=["zeros"], why="All numbers are equal."),
        *counted([700], 50, scale=15, shift=25, engine_orders=True),
        *counted([0, 1, 2, 7, 63, 65, 1023, 1025, 2047], 20, scale=5, shift=9, part="edges"),
        *counted([600], 1, scale=1, part="edges", why="A single bin."),
        *counted([600], 7, fills=["ramp"], shift=-3, part="edges", why="-1 and 7 are outside."),
        *counted([300], 5000, scale=1500, shift=2500, part="edges", why="More bins than numbers."),
        *counted([70_001], 33, scale=8, shift=16, part="edges", why="More than a fixed grid."),
        *counted([70_001], 5, fills=["zeros"], part="edges", why="More than 8 or 16 bits count."),
        *counted(
            [40, 500],
            16,
            fills=["ramp"],
            shift=BEYOND - 5,
            part="types",
            also=" beyond 32 bits",
            why="2**32 + 3 is not 3.",
        ),
        *counted(
            [40],
            16,
            fills=["ramp"],
            shift=-BEYOND - 5,
            part="types",
            also=" far below",
            why="3 - 2**32 is not 3.",
        ),
        *counted(
            [500],
            100,
            fills=["ramp"],
            shift=2**16 - 50,
            dtypes=[torch.int32],
            part="types",
            also=" beyond 16 bits",
        ),
        *counted([800], 90, fills=["normal"], part="types", dtypes=[torch.int32, torch.int64]),
        *counted([800], 90, scale=30, shift=45, part="types", dtypes=[torch.int16, torch.int8]),
        *counted([800], 90, scale=30, shift=45, part="types", dtypes=[torch.uint8]),
        *counted(
            [800],
            300,
            fills=["normal"],
            part="types",
            dtypes=[torch.uint8, torch.int8],
            why="More bins than the dtype of x has numbers.",
        ),
        *counted([500], 40, scale=12, shift=20, part="views", views=["stepped_columns", "offset"]),
        *counted(
            [2500],
            256,
            fills=["normal"],
            dtypes=[torch.uint8],
            part="views",
            views=["stepped_columns", "offset"],
        ),
    ),
    large=(
        *counted([2**22 + 5], 1000, scale=300, shift=500, part="edges", why="4096 programs."),
        *counted([2**20], 2, fills=["zeros"], part="edges", why="All numbers are in one bin."),
    ),
    hints=(
        "Many lanes, of many programs, add to the same count. What happens if two of them load "
        "the same count, add 1 and store? Which operation does it in one step?",
        "`counts_ptr + x` is a block of addresses, one for each lane. Some lanes must not add: "
        "lanes past the end of x, and numbers without a bin. Compare x in 64 bits, since "
        "n_bins may not fit into its dtype.",
        "Load `x` at `offsets * stride_x` with `mask=mask, other=0`, and convert it with "
        "`.to(tl.int64)`. Then `inside = mask & (x >= 0) & (x < n_bins)` and "
        "`tl.atomic_add(counts_ptr + x, 1, mask=inside)`. In the launcher: `counts = "
        "torch.zeros((n_bins,), dtype=torch.int32, device=x.device)`.",
    ),
    challenge="Load the counts, add 1 and store them, and check: which cases still pass?",
    misconceptions=count_records.MISTAKES,
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

ROWS = "rows columns"
LONG = "Rows longer than a block: the sum of earlier blocks must be carried."

CUMSUM = Exercise(
    name="cumsum",
    lesson="atomics_and_scans",
    title="Running sums of rows",
    parameters=("x",),
    reference=references.cumsum,
    magnitude=references.cumsum_magnitude,
    traffic_factor=3.0,  # two passes with sums in between are correct, too
    cases=(
        *cases(one, ROWS, [(64, 64), (37, 53), (53, 37)]),
        *cases(one, ROWS, [(3, 1000), (5, 2100), (130, 400)], why=LONG),
        *cases(one, ROWS, [(1, 6011)], why=LONG),
        *cases(one, ROWS, [(7, 300)], engine_orders=True),
        *cases(one, ROWS, [(2, 600)], engine_orders=True),
        *cases(one, ROWS, [(1, 1), (1, 7), (7, 1), (300, 2), (2, 17)], part="edges"),
        *cases(one, ROWS, [(3, n) for n in (15, 31, 65, 127, 257, 513)], part="edges"),
        *cases(one, ROWS, [(2, 1023), (2, 1025), (1, 2049)], part="edges"),
        *cases(one, ROWS, [(0, 5), (5, 0)], part="edges", why="Nothing to compute."),
        *cases(one, ROWS, [(20, 90), (3, 1500)], part="types", dtypes=HALVES),
        *cases(
            one,
            ROWS,
            [(4, 700)],
            part="types",
            fills=["cancelling"],
            dtypes=FLOATS,
            why="Large numbers whose sums nearly cancel.",
        ),
        *cases(
            one,
            ROWS,
            [(2, 2600)],
            part="types",
            shift=1.0,
            scale=0.1,
            dtypes=HALVES,
            why="Sums that become too large for adding 1 in half precision.",
        ),
        *cases(one, ROWS, [(9, 100)], part="types", scale=1e10, why="Large numbers."),
        *cases(one, ROWS, [(9, 100)], part="types", scale=1e-10, why="Tiny numbers."),
        *cases(one, ROWS, [(24, 36)], part="views", views=ALL_VIEWS),
        *cases(one, ROWS, [(3, 1100)], part="views", views=["transposed", "stepped_columns"]),
        *cases(one, ROWS, [(3, 1100)], part="views", views=["sliced"]),
    ),
    large=(
        *cases(one, ROWS, [(3000, 700)], part="edges", why="Thousands of rows."),
        *cases(one, ROWS, [(2, 1_000_003)], part="edges", why="A million columns."),
    ),
    hints=(
        "A scan of one block gives the running sums within it. What is missing from all of "
        "them in the second block of a row, and is it the same number for each?",
        "Keep one number, the sum of all earlier blocks. For each block of the row: add it to "
        "the scan of the block, store, and then let it grow by the sum of the block.",
        "Load x with `other=0.0` and convert it with `.to(tl.float32)`. Then `sums = carried + "
        "tl.associative_scan(x, axis=0, combine_fn=add)`. Store the sums under the mask, in "
        "the dtype of the output. Then `carried += tl.sum(x, axis=0)`.",
    ),
    challenge="Leave out the carry and check: which shapes still pass?",
    misconceptions=scan_records.MISTAKES,
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

AXES = "m k n"


def split_into(splits: int, a: str = "", b: str = "") -> Maker:
    """Return the maker of a (m, k) and b (k, n) whose product has so many parts.

    a, b: the view of that factor alone.
    """

    def make(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        m, k, n = shape
        first, second = {**spec}, {**spec}
        if a or b:
            first["view"], second["view"] = a or "contiguous", b or "contiguous"
        return (
            TensorSpec((m, k), **first),  # type: ignore[arg-type]
            TensorSpec((k, n), **second),  # type: ignore[arg-type]
            splits,
        )

    return make


def split(
    splits: Sequence[int], shapes: Sequence[tuple[int, int, int]], **more: Any
) -> tuple[Case, ...]:
    """Return the cases of these products in so many parts each, which their names tell."""
    return tuple(
        case
        for parts in splits
        for case in cases(split_into(parts), AXES, shapes, label=f"{parts} splits", **more)
    )


SHARED = "The same product in one part and in several."
UNEVEN = "k is not a multiple of splits times a block."

SPLIT_CASES = (
    *split([1, 2, 4], [(64, 256, 64)], why=SHARED),
    *split([1, 3, 8], [(32, 512, 48)], why=SHARED),
    *split([2, 4], [(70, 300, 45), (40, 130, 90)], why=UNEVEN),
    *split([3, 5, 7], [(33, 200, 20)], why=UNEVEN),
    *split([16], [(16, 1024, 16)], why="A small result with a long k: the typical use."),
    *split([3], [(17, 150, 20)], engine_orders=True),
    *split([1, 2, 6], [(1, 1, 1), (1, 64, 1), (17, 5, 33)], part="edges", why="More parts than k."),
    *split([2, 9], [(31, 33, 32), (65, 129, 63), (2, 3, 5)], part="edges"),
    *split([64], [(20, 90, 20)], part="edges", why="Most parts have nothing to add."),
    *split([1, 4], [(0, 5, 7), (5, 7, 0)], part="edges", why="Nothing to compute."),
    *split([1, 3], [(5, 0, 7)], part="edges", why="An empty sum is 0."),
    *split([1, 4], [(50, 160, 70)], part="types", dtypes=HALVES),
    *split([5], [(20, 700, 30)], part="types", dtypes=HALVES),
    *split(
        [4, 16],
        [(32, 512, 32)],
        part="types",
        fills=["cancelling"],
        dtypes=FLOATS,
        why="Parts that are large, and a sum that nearly cancels.",
    ),
    *split([3], [(40, 140, 40)], part="types", scale=1e10, why="Large numbers."),
    *split([3], [(40, 140, 40)], part="types", scale=1e-10, why="Tiny numbers."),
    *split([3], [(40, 100, 36)], part="views", views=ALL_VIEWS),
    *cases(split_into(2, a="transposed"), AXES, [(36, 72, 36)], part="views", label="a transposed"),
    *cases(split_into(2, b="transposed"), AXES, [(36, 72, 36)], part="views", label="b transposed"),
    *split([4], [(33, 131, 35)], part="views", dtypes=HALVES, views=["transposed"]),
)

SPLIT_K_MATMUL = Exercise(
    name="split_k_matmul",
    lesson="atomics_and_scans",
    title="Share the sum of a product",
    parameters=("a", "b", "splits"),
    reference=references.split_product,
    magnitude=references.split_product_magnitude,
    traffic_factor=64.0,  # any tiling passes, and scratch memory for the parts
    cases=SPLIT_CASES,
    large=cases(
        split_into(8), AXES, [(130, 40_003, 131)], part="edges", why="Thousands of blocks of k."
    ),
    hints=(
        "The tile and the loop are those of lesson 08. Which blocks of k should part number "
        "`part` take, so that each block is taken exactly once?",
        "Take the blocks `part`, `part + splits`, `part + 2 * splits`, ...: a loop with a step "
        "of `splits * BLOCK_K`. Several programs then add to one tile. In which dtype should "
        "they add, and what must the memory contain before?",
        "Loop with `for k_start in range(part * BLOCK_K, K, splits * BLOCK_K)`. After the "
        "loop, `tl.atomic_add(sums_ptrs, accumulator, mask=mask_m & mask_n)`. In the launcher, "
        "`sums = torch.zeros((m, n), dtype=torch.float32, device=a.device)`.",
    ),
    challenge="Store the parts with `tl.store`, not with the atomic: what does the card say?",
    misconceptions=split_records.MISTAKES,
    requirements=(split_records.splits_used(SPLIT_CASES),),
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

EXERCISES = (HISTOGRAM, CUMSUM, SPLIT_K_MATMUL)
