"""What counts as solved in the lesson on gradients."""

from __future__ import annotations

import torch

from graders.course.autograd.mistakes.layer_records import MISTAKES as LAYER_MISTAKES
from graders.course.autograd.mistakes.softmax_records import MISTAKES as SOFTMAX_MISTAKES
from graders.course.autograd.reference import (
    layer_backward,
    layer_terms,
    softmax_backward,
    softmax_backward_magnitude,
)
from graders.judge.cases.builders import ALL_VIEWS, FLOATS, HALVES, Maker, cases, two
from graders.judge.records import (
    Arg,
    Exercise,
    ReturnedTensor,
    TensorSpec,
    View,
)

ROWS = "rows columns"


def gradient_viewed(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return a contiguous y, and a dy of that kind."""
    y = TensorSpec(shape, **{**spec, "view": "contiguous"})  # type: ignore[arg-type]
    return y, TensorSpec(shape, **spec)  # type: ignore[arg-type]


def output_viewed(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return a y of that kind, and a contiguous dy."""
    return gradient_viewed(shape, **spec)[::-1]


SOFTMAX_BACKWARD = Exercise(
    name="softmax_backward",
    lesson="autograd",
    title="Softmax, backward",
    parameters=("y", "dy"),
    reference=softmax_backward,
    magnitude=softmax_backward_magnitude,
    cases=(
        *cases(two, ROWS, [(64, 64), (37, 53), (20, 128), (5, 1000)]),
        *cases(two, ROWS, [(3, 5000)], why="Rows longer than most blocks."),
        *cases(two, ROWS, [(130, 33)], why="More rows than columns."),
        *cases(
            gradient_viewed,
            ROWS,
            [(40, 60)],
            views=["expanded_rows"],
            label="dy",
            why="The gradient of a sum is expanded.",
        ),
        *cases(two, ROWS, [(9, 70)], engine_orders=True),
        *cases(two, ROWS, [(1, 1), (1, 700), (300, 1), (15, 17), (4, 2)], part="edges"),
        *cases(two, ROWS, [(3, 127), (3, 128), (3, 129), (3, 1023), (3, 1025)], part="edges"),
        *cases(two, ROWS, [(2, 20_000)], part="edges", why="Rows longer than any block."),
        *cases(two, ROWS, [(0, 5), (5, 0)], part="edges", why="Nothing to do."),
        *cases(two, ROWS, [(12, 70), (4, 3000)], part="types", dtypes=HALVES),
        *cases(two, ROWS, [(12, 70)], part="types", scale=100.0, why="Large numbers."),
        *cases(two, ROWS, [(12, 70)], part="types", scale=1e-4, why="Small numbers."),
        *cases(two, ROWS, [(12, 70)], part="types", shift=3.0, why="All of one sign."),
        *cases(two, ROWS, [(12, 70)], part="types", fills=["zeros"]),
        *cases(two, ROWS, [(24, 36), (17, 50)], part="views", views=ALL_VIEWS),
        *cases(
            gradient_viewed,
            ROWS,
            [(21, 34)],
            part="views",
            views=["transposed", "expanded_columns", "stepped_columns"],
            label="dy",
        ),
        *cases(
            output_viewed, ROWS, [(21, 34)], part="views", views=["transposed", "sliced"], label="y"
        ),
        *cases(two, ROWS, [(3, 2100)], part="views", views=["stepped_columns"], why="Long rows."),
    ),
    large=cases(two, ROWS, [(70_001, 33), (523, 8003)], part="edges", why="Many rows."),
    hints=(
        "Like softmax itself, it is a reduction and an elementwise step: one sum for each "
        "row, then every element once more.",
        "Pass over the row and sum dy · y in float32, with `other=0.0` for lanes past the "
        "end. Pass again and store y · (dy - sum). Each tensor has its own strides; those of "
        "dy may be 0.",
        "First pass: `products += y.to(tl.float32) * dy.to(tl.float32)`. After it: `row_sum = "
        "tl.sum(products, axis=0)`. Second pass: `dx = y.to(tl.float32) * (dy.to(tl.float32) "
        "- row_sum)`, stored under the mask.",
    ),
    challenge="Read dy with the strides of y, and check again: which cases still pass, and why?",
    misconceptions=SOFTMAX_MISTAKES,
    parts={"core": 4, "edges": 2, "types": 2, "views": 2},
)


def layer(*views: View) -> Maker:
    """Return the maker of x (m, k), w (n, k), out and dout (m, n), of which out is a ReLU's.

    `views` are those of the four, one by one; without them all have the view of the case.
    """

    def make(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        m, k, n = shape
        made = []
        for place, size in enumerate(((m, k), (n, k), (m, n), (m, n))):
            own = {**spec, "view": views[place] if views else spec["view"]}
            own |= {"fill": "rectified", "shift": 0.0} if place == 2 else {}
            made.append(TensorSpec(size, **own))  # type: ignore[arg-type]
        return tuple(made)

    return make


SIZES = "m k n"
DENSE, OF_A_SUM = layer(), layer("contiguous", "contiguous", "contiguous", "expanded_rows")


def layer_result(name: str, number: int) -> ReturnedTensor:
    """Return the record of gradient `number`, whose terms are summed in float32."""

    def terms(*args: torch.Tensor) -> torch.Tensor:
        return layer_terms(*args)[number]

    return ReturnedTensor(name, magnitude=terms)


LINEAR_BIAS_RELU_BACKWARD = Exercise(
    name="linear_bias_relu_backward",
    lesson="autograd",
    title="A linear layer with ReLU, backward",
    parameters=("x", "w", "out", "dout"),
    reference=layer_backward,
    results=tuple(layer_result(name, place) for place, name in enumerate(("dx", "dw", "db"))),
    traffic_factor=64.0,  # any tiling passes, even one element per program
    cases=(
        *cases(DENSE, SIZES, [(64, 64, 64), (48, 48, 80), (130, 20, 40)]),
        *cases(DENSE, SIZES, [(37, 70, 45), (20, 140, 30), (33, 30, 150)], why="Ragged."),
        *cases(DENSE, SIZES, [(40, 24, 24)], why="x is as wide as out."),
        *cases(DENSE, SIZES, [(24, 36, 24)], why="out is square."),
        *cases(OF_A_SUM, SIZES, [(40, 33, 50)], label="dout", why="The gradient of a sum."),
        *cases(DENSE, SIZES, [(70, 40, 20)], engine_orders=True),
        *cases(DENSE, SIZES, [(1, 1, 1), (1, 40, 1), (65, 1, 33), (2, 3, 5)], part="edges"),
        *cases(DENSE, SIZES, [(31, 33, 32), (150, 5, 6), (5, 7, 150)], part="edges"),
        *cases(DENSE, SIZES, [(0, 5, 7), (5, 0, 7), (5, 7, 0)], part="edges", why="Empty sums."),
        *cases(DENSE, SIZES, [(50, 40, 30)], part="types", dtypes=HALVES),
        *cases(
            DENSE,
            SIZES,
            [(96, 24, 20)],
            part="types",
            fills=["cancelling"],
            dtypes=FLOATS,
            why="Large terms whose sum nearly cancels.",
        ),
        *cases(DENSE, SIZES, [(24, 20, 90)], part="types", fills=["cancelling"], dtypes=HALVES),
        *cases(DENSE, SIZES, [(40, 36, 30)], part="types", scale=1e4, why="Large numbers."),
        *cases(DENSE, SIZES, [(30, 35, 40)], part="views", views=["transposed", "sliced"]),
        *cases(DENSE, SIZES, [(28, 31, 26)], part="views", views=["stepped_columns"]),
        *cases(
            layer("transposed", "contiguous", "sliced", "expanded_columns"),
            SIZES,
            [(29, 34, 37)],
            part="views",
            label="each its own",
        ),
        *cases(
            layer("contiguous", "transposed", "contiguous", "transposed"),
            SIZES,
            [(32, 32, 32)],
            part="views",
            label="w and dout turned",
        ),
    ),
    large=cases(DENSE, SIZES, [(4099, 257, 130)], part="edges", why="Many rows."),
    hints=(
        "These are two matrix products and a column sum. In both products one operand is g, "
        "which is dout with 0 where out is not above 0. A given helper loads such a tile.",
        "dx: loop along N, a tile of g times a tile of w. dw: loop along M, the *transposed* "
        "tile of g times a tile of x, and also sum the columns of g. Only programs in the "
        "first column of tiles store db.",
        '`accumulator = tl.dot(g, w, accumulator, input_precision="ieee")`. In the other '
        'kernel `accumulator = tl.dot(g.T, x, accumulator, input_precision="ieee")` and '
        "`column_sums += tl.sum(g.to(tl.float32), axis=0)`. Then under `if "
        "tl.program_id(axis=1) == 0:` `tl.store(db_ptr + rows, column_sums, mask=rows < N)`.",
    ),
    challenge=(
        "Remove the ReLU mask in the kernel of dw and db, and check again: which of the three "
        "results still pass?"
    ),
    misconceptions=LAYER_MISTAKES,
    parts={"core": 4, "edges": 2, "types": 2, "views": 2},
)

EXERCISES = (SOFTMAX_BACKWARD, LINEAR_BIAS_RELU_BACKWARD)
