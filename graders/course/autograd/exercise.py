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
    Choice,
    Exercise,
    Question,
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
        "It is a reduction and an elementwise step, like softmax itself: one sum for each row, "
        "then every element once more.",
        "Walk through the row and sum dy · y in float32, with `other=0.0` for lanes that do not "
        "exist. Walk again: y · (dy - sum). Each tensor has strides of its own; those of dy may "
        "be 0.",
        "`products += y.to(tl.float32) * dy.to(tl.float32)` in the first walk, `row_sum = "
        "tl.sum(products, axis=0)` behind it, `dx = y.to(tl.float32) * (dy.to(tl.float32) - "
        "row_sum)` in the second.",
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
        "Two matmuls and a column sum. In both matmuls one operand is dout, with 0 where out is "
        "not above 0: a helper loads such a tile.",
        "dx: walk along N, a tile of g times a tile of w. dw: walk along M, the *transposed* "
        "tile of g times a tile of x, and on the way add up the columns of g. db is stored by "
        "the programs of the first column of tiles only.",
        '`accumulator = tl.dot(g, w, accumulator, input_precision="ieee")`; in the other kernel '
        '`tl.dot(g.T, x, accumulator, input_precision="ieee")` and `column_sums += '
        "tl.sum(g.to(tl.float32), axis=0)`; `if tl.program_id(axis=1) == 0:` store db under a "
        "mask.",
    ),
    challenge=(
        "Leave the mask out in the kernel of dw and db, and check again: which of the three "
        "still pass?"
    ),
    misconceptions=LAYER_MISTAKES,
    parts={"core": 4, "edges": 2, "types": 2, "views": 2},
)

EXERCISES = (SOFTMAX_BACKWARD, LINEAR_BIAS_RELU_BACKWARD)

QUIZ = (
    Question(
        "Why does the gradient of softmax need a sum over the row?",
        (
            Choice(
                "To make the result sum to 1.",
                "The rows of the result sum to 0: the shares can only be moved about.",
            ),
            Choice(
                "Because each input changes every output of its row.",
                "Yes: a larger x makes one share larger and all others smaller.",
                right=True,
            ),
            Choice(
                "To avoid overflow.",
                "That is the maximum's task on the way forward. Here nothing is exponentiated.",
            ),
        ),
    ),
    Question(
        "What must out = relu(x @ w.T + b) keep for its way back?",
        (
            Choice(
                "x, w and the value before the ReLU.",
                "Where the ReLU let the gradient pass is seen in out as well, which exists anyway.",
            ),
            Choice(
                "Only out.",
                "That is enough for the mask. dx needs w, and dw needs x.",
            ),
            Choice(
                "x, w and out.",
                "Yes: x for dw, w for dx, out for the mask.",
                right=True,
            ),
        ),
    ),
    Question(
        "`y.sum().backward()` calls your backward kernel. What is special about the gradient it "
        "gets?",
        (
            Choice(
                "It is one number, expanded with strides of 0.",
                "Yes. A kernel that takes it for dense reads far beyond its end.",
                right=True,
            ),
            Choice(
                "It is transposed.",
                "It has the shape of y. It is the strides that are unusual.",
            ),
            Choice(
                "It is float64.",
                "It has the dtype of y.",
            ),
        ),
    ),
    Question(
        "Many programs add their parts of db to the same numbers by load, add and store. What "
        "happens?",
        (
            Choice(
                "The hardware puts them in order.",
                "It does so for atomics. Load, add and store are three steps, and others come "
                "between.",
            ),
            Choice(
                "It crashes.",
                "If only it did. The result is silently too small, and another one each time.",
            ),
            Choice(
                "Parts are lost whenever two programs load the same old number.",
                "Yes, a race. One owner, atomics, or a second step mend it.",
                right=True,
            ),
        ),
    ),
    Question(
        "A network with a new backward kernel learns, and its loss falls. What does that prove?",
        (
            Choice(
                "That its gradients are right.",
                "Networks learn with slightly wrong gradients, too, only worse.",
            ),
            Choice(
                "That they point roughly downhill. Check them by the definition, and by "
                "properties.",
                "Yes. The definition is independent of the formula that you derived.",
                right=True,
            ),
            Choice(
                "That no race is in it.",
                "A lost part of a sum still lets the loss fall.",
            ),
        ),
    ),
)
