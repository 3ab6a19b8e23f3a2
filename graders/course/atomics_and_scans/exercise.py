"""What counts as solved in the lesson on atomics and scans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from graders.course.atomics_and_scans import reference as references
from graders.course.atomics_and_scans.mistakes import count_records, scan_records, split_records
from graders.judge.cases.builders import ALL_VIEWS, FLOATS, HALVES, Maker, cases, one
from graders.judge.records import Arg, Case, Choice, Exercise, Question, TensorSpec

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


OUTSIDE = "Some numbers lie below 0 or above the last bin: they count nowhere."
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
            why="More bins than the dtype of x can tell apart.",
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
        *counted([2**20], 2, fills=["zeros"], part="edges", why="All meet in one bin."),
    ),
    hints=(
        "Many lanes, of many programs, want to add to the same count. What happens to two of them "
        "that load the same count, add 1 and store? Which operation does it in one step?",
        "`counts_ptr + x` is a block of places, one for each lane. Not each lane has one: some lie "
        "behind the end of x, and some numbers have no bin. A mask can say both.",
        "`inside = mask & (x >= 0) & (x < n_bins)`, then `tl.atomic_add(counts_ptr + x, 1, "
        "mask=inside)`; and the counts start from `torch.zeros`.",
    ),
    challenge="Load the counts, add 1 and store them, and check: which cases still pass?",
    misconceptions=count_records.MISTAKES,
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

ROWS = "rows columns"
LONG = "Rows longer than a block: what came before must be carried on."

CUMSUM = Exercise(
    name="cumsum",
    lesson="atomics_and_scans",
    title="Running sums of rows",
    parameters=("x",),
    reference=references.cumsum,
    magnitude=references.cumsum_magnitude,
    traffic_factor=3.0,  # two passes with sums in between are right, too
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
            why="Sums that grow until 1 no longer shows in half precision.",
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
        "A scan of one block gives the running sums within it. What is missing from all of them in "
        "the second block of a row, and is it the same number for each?",
        "Keep one number, the sum of all blocks so far. Add it to the scan of the block, store, "
        "and then let it grow by the sum of the block. A program walks through its row.",
        "`sums = carried + tl.associative_scan(x, axis=0, combine_fn=add)`, a store under the "
        "mask, and `carried += tl.sum(x, axis=0)`; x was loaded with `other=0.0` and converted to "
        "float32.",
    ),
    challenge="Take the carry out of the sum and check: which shapes still pass?",
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
UNEVEN = "k is no multiple of splits times a block."

SPLIT_CASES = (
    *split([1, 2, 4], [(64, 256, 64)], why=SHARED),
    *split([1, 3, 8], [(32, 512, 48)], why=SHARED),
    *split([2, 4], [(70, 300, 45), (40, 130, 90)], why=UNEVEN),
    *split([3, 5, 7], [(33, 200, 20)], why=UNEVEN),
    *split([16], [(16, 1024, 16)], why="A small result with a long k: what this is made for."),
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
        "The tile and the loop are those of lesson 08. Which blocks of k does part number `part` "
        "take, so that each block is taken once, whatever k is?",
        "Blocks `part`, `part + splits`, `part + 2 * splits`, ...: a loop with a step of "
        "`splits * BLOCK_K`. Several programs then add to one tile. In which dtype, and from what "
        "do the sums start?",
        "`for k_start in range(part * BLOCK_K, K, splits * BLOCK_K)`, after it "
        "`tl.atomic_add(sums_ptrs, accumulator, mask=...)`, and `sums` from `torch.zeros` in "
        "float32.",
    ),
    challenge="Store the parts with `tl.store` in place of the atomic, and check: what is said?",
    misconceptions=split_records.MISTAKES,
    promises=(split_records.splits_used(SPLIT_CASES),),
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

EXERCISES = (HISTOGRAM, CUMSUM, SPLIT_K_MATMUL)

QUIZ = (
    Question(
        "Two programs load the count 5, add 1, and store. What does it hold, and what would it "
        "hold with `tl.atomic_add`?",
        (
            Choice(
                "7 in both cases.",
                "Only if the second one loads after the first has stored, and nothing says so.",
            ),
            Choice(
                "6, if both load before one of them stores; and 7 with the atomic.",
                "Yes. The atomic makes one step of the three, so that nobody comes between.",
                right=True,
            ),
            Choice(
                "6 in both cases.",
                "An atomic addition sees what the one before it has left.",
            ),
        ),
    ),
    Question(
        "Programs add float32 numbers to one place by `tl.atomic_add`. Is the sum the same in each "
        "run?",
        (
            Choice(
                "Yes: no addition is lost.",
                "None is lost, but their order is open, and each addition rounds.",
            ),
            Choice(
                "Up to rounding. Its last bits may change, because the order does.",
                "Yes. Integers would give the same sum in any order.",
                right=True,
            ),
            Choice(
                "No, it may be anything.",
                "That would be a race. Here every number is in the sum.",
            ),
        ),
    ),
    Question(
        "Why must the memory under an atomic addition be float32 for float16 inputs?",
        (
            Choice(
                "Because there is no atomic addition to float16.",
                "There is one. It rounds its sum at each step.",
            ),
            Choice(
                "Because each addition rounds to the dtype of the memory, and a long sum in "
                "float16 loses its small terms.",
                "Yes. One conversion at the end rounds once.",
                right=True,
            ),
            Choice(
                "Because float32 additions keep their order.",
                "They do not. They only lose less.",
            ),
        ),
    ),
    Question(
        "x holds -1. The mask of the atomic is `offsets < n_elements` and `x < n_bins`. What "
        "happens?",
        (
            Choice(
                "-1 is masked off.",
                "-1 is below n_bins, so the mask lets it pass.",
            ),
            Choice(
                "It counts in the last bin.",
                "So it would in Python. A pointer knows nothing of the end of a tensor.",
            ),
            Choice(
                "Memory in front of the counts is changed.",
                "Yes, and it belongs to somebody else. A number that becomes an address needs two "
                "bounds.",
                right=True,
            ),
        ),
    ),
    Question(
        "Which of these rules may a scan have?",
        (
            Choice(
                "The larger of two numbers.",
                "Yes: max(max(a, b), c) is max(a, max(b, c)). It is associative.",
                right=True,
            ),
            Choice(
                "The difference a - b.",
                "(a - b) - c is not a - (b - c): the result depends on how the block is cut.",
            ),
            Choice(
                "The mean (a + b) / 2.",
                "The mean of a mean and a third number gives that one more weight.",
            ),
        ),
    ),
    Question(
        "k has 10 blocks, and each of 4 parts takes `10 // 4` of them. What is missing?",
        (
            Choice(
                "Nothing: the last part takes the rest.",
                "Only if somebody tells it to. 10 // 4 is 2 for each.",
            ),
            Choice(
                "Two blocks: four parts of two are eight.",
                "Yes. Round up, or deal the blocks out one by one.",
                right=True,
            ),
            Choice(
                "Nothing, if k is a multiple of BLOCK_K.",
                "Then all blocks are full. There are still ten of them.",
            ),
        ),
    ),
)
