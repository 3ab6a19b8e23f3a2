"""What counts as solved in the lesson on randomness: a mask that is made where it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from graders.course.common import promises
from graders.course.randomness.mistakes.records import MISTAKES
from graders.course.randomness.reference import (
    dropout_residual,
    dropout_residual_magnitude,
    uniform,
)
from graders.judge.cases.builders import HALVES, Maker, cases
from graders.judge.records import Arg, Case, Choice, Exercise, Fill, Question, TensorSpec, View

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
    promises.one_kernel("the whole of dropout and sum"),
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
    promises=(NO_MASK_IN_MEMORY,),
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

EXERCISES = (DROPOUT_RESIDUAL,)

QUIZ = (
    Question(
        "What does a counter-based generator remember between two numbers?",
        (
            Choice(
                "Its state, of some thousand bits.",
                "That is how a Mersenne twister works. It computes its numbers one after the "
                "other.",
            ),
            Choice(
                "The last number that it gave, from which the next one is computed.",
                "Then the next number would have to wait for it, and a million programs cannot.",
            ),
            Choice(
                "A counter in memory, which each call increments by an atomic addition.",
                "The kernel passes the counter as an argument. Nothing is stored in memory.",
            ),
            Choice(
                "Nothing: seed and counter determine a number.",
                "Yes. So any program can compute any number, in any order, and again later.",
                right=True,
            ),
        ),
    ),
    Question(
        "A kernel runs `keep = tl.rand(seed, tl.arange(0, BLOCK_SIZE)) >= p` in each program. "
        "About a fraction p of the elements is dropped. What is wrong?",
        (
            Choice(
                "Each block has the same mask, which depends on BLOCK_SIZE.",
                "Yes. A backward pass with other blocks would not match.",
                right=True,
            ),
            Choice(
                "Nothing, since the fraction is correct.",
                "The fraction says little. Every block drops the same lanes.",
            ),
            Choice(
                "It is slower than a counter of elements, because all programs use the same "
                "counters.",
                "It takes as long: a lane computes one number either way, and nothing is shared.",
            ),
            Choice(
                "Two programs that compute the same number at the same time are a race.",
                "A race needs memory that both access. `tl.rand` is a function without state.",
            ),
        ),
    ),
    Question(
        "Why does the backward pass compute the mask again, although it could load it?",
        (
            Choice(
                "Because a stored mask would be inexact.",
                "A mask of bits would be exact. It costs memory and traffic.",
            ),
            Choice(
                "Because the backward pass must drop other elements than the forward pass did.",
                "It must drop the very same: a dropped element has no gradient.",
            ),
            Choice(
                "Because a mask needs memory and traffic; a seed needs eight bytes.",
                "Yes. Dropout is memory-bound: much of the arithmetic runs while it waits for "
                "data.",
                right=True,
            ),
            Choice(
                "Because Philox takes less time than a load, whatever the dtype.",
                "Not always. In fp16 the random numbers may take longer than the bytes.",
            ),
        ),
    ),
    Question(
        "p = 0.1. What does inverted dropout do to the elements that are kept?",
        (
            Choice(
                "It multiplies them by 0.9.",
                "Then the sum would shrink twice: by dropping, and by multiplying.",
            ),
            Choice(
                "It divides them by 0.1, since p is 0.1.",
                "Divide by 1 - p. With p = 0.5 the two are the same, so test with another p.",
            ),
            Choice(
                "It divides them by 0.9.",
                "Yes. Nine of ten are kept, and divided by 0.9 they add up to ten again, on "
                "average.",
                right=True,
            ),
            Choice(
                "Nothing in training; in inference all elements are multiplied by 0.9.",
                "That is the original dropout. Inverted dropout scales in training.",
            ),
        ),
    ),
    Question(
        "Two layers of a model have the same shape, and both call `dropout_residual(x, "
        "residual, 0.1, seed=7)`. What happens?",
        (
            Choice(
                "They drop the same elements.",
                "Yes: same seed, same counters, same mask. Use a separate seed for each layer "
                "and each step.",
                right=True,
            ),
            Choice(
                "The second one continues where the first one ended.",
                "A generator with a state would. This one has none.",
            ),
            Choice(
                "Triton gives an error, because these counters were already used.",
                "Triton keeps no record of counters. Nothing warns you.",
            ),
            Choice(
                "They drop different elements, because x has another address in each layer.",
                "The counter is the number of the element, not its address.",
            ),
        ),
    ),
)
