"""What counts as solved in the lesson on low precision."""

from __future__ import annotations

import torch

from graders.course.low_precision.fp8_cases import FP8_CASES, FP8_LARGE
from graders.course.low_precision.mistakes import fp8_records, quantized_records
from graders.course.low_precision.reference import (
    PER_WORD,
    fp8_matmul,
    fp8_matmul_magnitude,
    quantized_matmul,
    quantized_matmul_magnitude,
)
from graders.judge.cases.builders import ALL_VIEWS, HALVES, Maker, cases
from graders.judge.records import (
    Arg,
    Exercise,
    Fill,
    TensorSpec,
    Tolerance,
)

AXES = "m k n group"
MOST_COUNTED = 128  # zero points that count up, in a byte with a sign too; elsewhere all are 0
STEP = 0.05  # a usual scale: between two neighbours of sixteen

# b may be rounded to the dtype of a before the product, because tensor cores want it so: half an
# ulp of each term, which adds to the rounding of the result.
ROUNDED_FACTOR = {
    torch.float16: Tolerance(rel=2.0**-10, acc=2.0**-11, abs=2.0**-24),
    torch.bfloat16: Tolerance(rel=2.0**-7, acc=2.0**-8, abs=1e-37),
}


def quantized(step: float = STEP, sizes: Fill = "normal") -> Maker:
    """Return the maker of a (m, k), packed numbers, scales and zero points, for groups of a size.

    `step` is how large the scales are; `sizes` fills them: some are far larger than others.
    """

    def make(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        m, k, n, group = shape
        table = (k // group, n)
        counted = table[0] * n <= MOST_COUNTED
        dtype: torch.dtype = spec["dtype"]  # type: ignore[assignment]
        return (
            TensorSpec((m, k), **spec),  # type: ignore[arg-type]
            TensorSpec((k // PER_WORD, n), torch.int32),
            TensorSpec(table, dtype, fill=sizes, scale=step),
            TensorSpec(table, torch.uint8, fill="ramp" if counted else "zeros"),
        )

    return make


COMMON = quantized()
POSITIVE = quantized(sizes="rectified")
HALF = (torch.float16,)
BRAIN = (torch.bfloat16,)

QUANTIZED_MATMUL = Exercise(
    name="quantized_matmul",
    lesson="low_precision",
    title="Multiply by a matrix of 4-bit numbers",
    parameters=("a", "packed_b", "scales", "zeros"),
    reference=quantized_matmul,
    magnitude=quantized_matmul_magnitude,
    tolerance=ROUNDED_FACTOR,
    traffic_factor=64.0,  # any tiling passes, even one output row per program
    cases=(
        *cases(COMMON, AXES, [(64, 128, 16, 128), (40, 64, 64, 64)], dtypes=HALF),
        *cases(COMMON, AXES, [(64, 128, 64, 32), (33, 256, 90, 128)], dtypes=HALF),
        *cases(
            COMMON,
            AXES,
            [(24, 128, 20, 16), (50, 64, 33, 16), (20, 256, 4, 64)],
            dtypes=HALF,
            why="Several groups along k.",
        ),
        *cases(
            COMMON,
            AXES,
            [(17, 96, 8, 48), (30, 144, 50, 48), (20, 480, 5, 240)],
            dtypes=HALF,
            why="Groups that are no power of two: they end inside a block.",
        ),
        *cases(COMMON, AXES, [(9, 64, 150, 64), (130, 48, 40, 48)], dtypes=HALF),
        *cases(COMMON, AXES, [(21, 80, 40, 16)], dtypes=HALF, engine_orders=True),
        *cases(
            COMMON,
            AXES,
            [(1, 16, 1, 16), (1, 128, 40, 32), (15, 48, 17, 16), (65, 112, 63, 112)],
            part="edges",
            dtypes=HALF,
        ),
        *cases(COMMON, AXES, [(31, 32, 33, 32), (2, 1024, 19, 128)], part="edges", dtypes=HALF),
        *cases(
            COMMON,
            AXES,
            [(0, 64, 5, 32), (5, 64, 0, 32)],
            part="edges",
            dtypes=HALF,
            why="Nothing to compute.",
        ),
        *cases(COMMON, AXES, [(50, 64, 30, 32), (20, 128, 7, 16)], part="types", dtypes=BRAIN),
        *cases(COMMON, AXES, [(33, 96, 70, 32)], part="types", dtypes=BRAIN),
        *cases(
            quantized(step=10.0),
            AXES,
            [(20, 64, 10, 16)],
            part="types",
            dtypes=HALVES,
            label="wide",
        ),
        *cases(
            quantized(step=1e-3), AXES, [(20, 64, 10, 16)], part="types", dtypes=HALF, label="fine"
        ),
        *cases(
            quantized(step=1e-7), AXES, [(20, 64, 10, 16)], part="types", dtypes=BRAIN, label="fine"
        ),
        *cases(
            COMMON, AXES, [(18, 48, 12, 16)], part="types", dtypes=BRAIN, scale=1e6, why="Large."
        ),
        *cases(
            COMMON, AXES, [(18, 48, 12, 16)], part="types", dtypes=BRAIN, scale=1e-7, why="Small."
        ),
        *cases(
            POSITIVE,
            AXES,
            [(16, 4096, 16, 2048), (10, 4096, 12, 32)],
            part="types",
            dtypes=HALF,
            shift=3.0,
            label="all of one sign",
            why="A long sum, of which half precision loses the end.",
        ),
        *cases(COMMON, AXES, [(28, 64, 24, 32)], part="views", dtypes=HALF, views=ALL_VIEWS),
        *cases(COMMON, AXES, [(33, 96, 50, 48)], part="views", dtypes=BRAIN, views=["transposed"]),
    ),
    large=cases(COMMON, AXES, [(1031, 1024, 1029, 128)], part="edges", dtypes=HALF),
    hints=(
        "It is the product of lesson 08 with another way to get a tile of b. For each row of "
        "the tile: which word holds its number, at which bit, and to which group does the row "
        "belong?",
        "Row k is in word k // 8 at bit 4 · (k % 8), in group k // GROUP. Load words at rows "
        "`offs_k[:, None] // 8`, shift, and mask with 0xF. Load scale and zero of each row's "
        "group, under the same load mask.",
        "`q = (words >> (4 * (offs_k[:, None] % 8)).to(tl.int32)) & 0xF`. Load scale and zero "
        "at row `offs_k[:, None] // GROUP`, return `(q - zero.to(tl.int32)).to(tl.float32) * "
        "scale.to(tl.float32)`. In the loop `accumulator = tl.dot(a, b.to(a.dtype), "
        "accumulator)`.",
    ),
    challenge=(
        "Take the group of the block's first row for all of its rows: which sizes still pass?"
    ),
    misconceptions=quantized_records.MISTAKES,
    parts={"core": 4, "edges": 2, "types": 2, "views": 2},
)

# The tensor cores of an H100 keep about 14 bits while they add products of fp8, 32 at a time, and
# cut off what is below, so that a sum is off by up to 2**-14 of its terms' size in each such step.
# The rest is one rounding to bfloat16.
# In 60 draws of positive terms the cut of 32 steps stayed below 1.5 * 2**-12.
FEW_BITS = {torch.bfloat16: Tolerance(rel=1.05 * 2.0**-8, acc=1.75 * 2.0**-12, abs=1e-37)}


def _terms_in_few_bits(a: torch.Tensor, b: torch.Tensor, *scales: torch.Tensor) -> torch.Tensor:
    """The size of the terms, for each four steps in which the tensor cores take them."""
    return fp8_matmul_magnitude(a, b, *scales) * max(1.0, a.shape[1] / 128)


FP8_MATMUL = Exercise(
    name="fp8_matmul",
    lesson="low_precision",
    title="Multiply matrices of 8-bit numbers",
    parameters=("a", "b", "scale_a", "scale_b"),
    reference=fp8_matmul,
    magnitude=_terms_in_few_bits,
    tolerance=FEW_BITS,
    dtype=torch.bfloat16,
    least_capability=89,
    traffic_factor=64.0,  # any tiling passes, even one output row per program
    cases=FP8_CASES,
    large=FP8_LARGE,
    hints=(
        "It is the product of lesson 08 with tiles of another dtype, and one more step before "
        "the store. Do the two scales belong inside the loop or after it?",
        "`tl.dot` takes two tiles of e4m3 as loaded, and returns fp32. After the loop load "
        "BLOCK_M scales with `offs_m` and BLOCK_N with `offs_n`, each under its mask. One "
        "varies along the rows of the tile, the other along its columns.",
        "In the loop `accumulator += tl.dot(a, b)`, with tiles loaded with `other=0.0`. After "
        "it `c = accumulator * scale_a[:, None] * scale_b[None, :]`, and at the store "
        "`c.to(c_ptr.dtype.element_ty)`.",
    ),
    challenge=(
        "Scale the tile of a before the product, and round it to e4m3 again: how far off is it?"
    ),
    misconceptions=fp8_records.MISTAKES,
    parts={"core": 4, "edges": 2, "types": 2, "views": 2},
)

EXERCISES = (QUANTIZED_MATMUL, FP8_MATMUL)
