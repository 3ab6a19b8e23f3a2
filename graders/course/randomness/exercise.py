"""What counts as solved in the lesson on randomness: a mask that is made where it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from graders.course.common import requirements
from graders.course.randomness.mistakes.records import MISTAKES
from graders.course.randomness.reference import (
    dropout_residual,
    dropout_residual_magnitude,
    uniform,
)
from graders.judge.cases.builders import HALVES, Maker, cases
from graders.judge.records import Arg, Case, Exercise, Fill, TensorSpec, View

VIEWS: tuple[View, ...] = (
    "sliced",
    "transposed",
    "offset",
    "stepped_rows",
    "stepped_columns",
    "expanded_rows",
    "expanded_columns",
)
LONG_SEED = 2**40 + 5  # what a seed of 32 bits would forget
BOUNDARY_SEED, BOUNDARY_ELEMENT = 11, 37


def arguments(p: float, seed: int, residual: View | None = None, x: View | None = None) -> Maker:
    """Return the maker of x and residual of that kind, this p and this seed.

    residual, x: the view of that tensor alone. Special values stand in x only.
    """

    def make(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        plain: Fill = "normal"
        of_x = {**spec, "view": x or spec["view"]}
        other = {**spec, "view": residual or spec["view"], "fill": plain}
        return (
            TensorSpec(tuple(shape), **of_x),  # type: ignore[arg-type]
            TensorSpec(tuple(shape), **other),  # type: ignore[arg-type]
            p,
            seed,
        )

    return make


def dropped(
    axes: str,
    shapes: Sequence[tuple[int, ...] | int],
    p: float,
    seed: int,
    *,
    make: Maker | None = None,
    also: str = "",
    **more: Any,
) -> tuple[Case, ...]:
    """Return the cases of these shapes with this p and this seed, which their names tell."""
    label = f"p {p:.4g} seed {seed}{also}"
    return cases(make or arguments(p, seed), axes, shapes, label=label, **more)


def boundary() -> tuple[float, float]:
    """A p that is the random number of an element, and the next larger one in float32."""
    number = uniform(BOUNDARY_SEED, torch.tensor([BOUNDARY_ELEMENT]))
    above = torch.nextafter(number, torch.ones(1))
    return float(number), float(above)


MET, MISSED = boundary()
SAME_MASK = "The mask must not depend on the block size."
OWN_WAY = "Each tensor has its own strides."

NO_MASK_IN_MEMORY = replace(
    requirements.one_kernel("the whole of dropout and sum"),
    next_step="Compute the random numbers in the kernel that adds, and again in the backward pass.",
)
DROPOUT_RESIDUAL = Exercise(
    name="dropout_residual",
    lesson="randomness",
    title="Dropout beside a residual",
    parameters=("x", "residual", "p", "seed"),
    reference=dropout_residual,
    magnitude=dropout_residual_magnitude,
    traffic_factor=1.5,  # the lesson's point: the mask is never stored
    cases=(
        *dropped("n", [1000, 4096, 5000], 0.3, 7, why="One block or several, the last not full."),
        *dropped("n", [20_011], 0.1, 3, why="Many blocks, whatever their size."),
        *dropped("rows columns", [(37, 53), (64, 64)], 0.25, 42, why=SAME_MASK),
        *dropped("rows columns", [(70, 20)], 0.75, 5, why=SAME_MASK),
        *dropped("batch rows columns", [(3, 17, 20)], 0.5, 9, why="Count through all axes."),
        *dropped("n", [600], 0.3, 0, why="0 is a seed like any other."),
        *dropped("n", [600], 0.3, 1, why="1 is a seed like any other."),
        *dropped("n", [700], 0.4, 8, engine_orders=True),
        *dropped("n", [0, 1, 2, 7, 63, 65, 1023, 1025, 2047], 0.3, 4, part="edges"),
        *dropped("n", [70_001], 0.6, 6, part="edges", why="More than a fixed grid covers."),
        *dropped("n", [900], 0.0, 12, part="edges", why="p = 0 keeps everything."),
        *dropped(
            "n", [900], 0.9, 13, part="edges", why="Few are kept, and they are multiplied by ten."
        ),
        *dropped("rows columns", [(0, 5), (5, 0), (1, 333), (333, 1)], 0.2, 2, part="edges"),
        *dropped("a b c d", [(2, 3, 4, 5), (1, 1, 1, 1)], 0.35, 14, part="edges"),
        *dropped(
            "n",
            [500],
            MET,
            BOUNDARY_SEED,
            part="edges",
            also=" just met",
            why=f"p is the random number of element {BOUNDARY_ELEMENT}, which is kept: >=.",
        ),
        *dropped(
            "n",
            [500],
            MISSED,
            BOUNDARY_SEED,
            part="edges",
            also=" just missed",
            why=f"p is one step of float32 above the number of element {BOUNDARY_ELEMENT}.",
        ),
        *dropped("n", [900], 0.3, 15, part="types", dtypes=HALVES, why="Keep the dtype of x."),
        *dropped("rows columns", [(30, 41)], 0.7, 16, part="types", dtypes=HALVES),
        *dropped("n", [900], 0.4, 17, part="types", scale=1e-6, why="Tiny numbers."),
        *dropped("n", [900], 0.4, LONG_SEED, part="types", why="A seed may have 64 bits."),
        *dropped(
            "n",
            [900],
            0.4,
            18,
            part="types",
            fills=["specials"],
            why="Dropped elements do not affect the result, even NaN.",
        ),
        *dropped("rows columns", [(24, 36)], 0.3, 19, part="views", views=VIEWS),
        *dropped("batch rows columns", [(3, 8, 14)], 0.45, 20, part="views", views=VIEWS),
        *dropped("n", [500], 0.3, 21, part="views", views=["stepped_columns", "offset"]),
        *dropped(
            "rows columns",
            [(24, 36)],
            0.3,
            22,
            part="views",
            views=["transposed", "stepped_columns"],
            make=arguments(0.3, 22, residual="contiguous"),
            also=" residual dense",
            why=OWN_WAY,
        ),
        *dropped(
            "rows columns",
            [(24, 36)],
            0.3,
            23,
            part="views",
            views=["transposed", "sliced"],
            make=arguments(0.3, 23, x="contiguous"),
            also=" x dense",
            why=OWN_WAY,
        ),
    ),
    large=(
        *dropped("n", [2**22 + 5], 0.1, 24, part="edges", why="Thousands of programs."),
        *dropped("batch rows columns", [(5, 701, 1003)], 0.3, 25, part="edges"),
    ),
    hints=(
        "`tl.rand` computes the number that belongs to a counter, and has no state. Which "
        "counter should an element have, so that its number is the same for every block size?",
        "The counter is the number of the element in the whole tensor, row after row. It is "
        "not the lane, the offset in a view, or the column. Use the same `elements` for the "
        "mask, for `places_of` and for `tl.rand`.",
        "Convert x and residual with `.to(tl.float32)` after loading. Then `keep = "
        "tl.rand(seed, elements) >= p` and `result = tl.where(keep, residual + x / (1 - p), "
        "residual)`. Store the result at `output_ptr + elements` under the mask.",
    ),
    challenge="Use `tl.arange(0, BLOCK_SIZE)` alone as the counter: which cases still pass?",
    misconceptions=MISTAKES,
    requirements=(NO_MASK_IN_MEMORY,),
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

EXERCISES = (DROPOUT_RESIDUAL,)
