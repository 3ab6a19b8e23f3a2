"""What counts as solved in the lesson on reductions."""

from __future__ import annotations

from graders.course.reductions.mistakes.layernorm_records import MISTAKES as LAYERNORM_MISTAKES
from graders.course.reductions.mistakes.row_sum_records import ROW_SUM_MISTAKES
from graders.course.reductions.mistakes.softmax_records import MISTAKES as SOFTMAX_MISTAKES
from graders.course.reductions.reference import (
    layernorm,
    layernorm_magnitude,
    row_sum,
    row_sum_magnitude,
    softmax,
    softmax_magnitude,
)
from graders.judge.cases.builders import ALL_VIEWS, HALVES, Maker, cases, one
from graders.judge.records import Arg, Exercise, TensorSpec

AXES = "rows columns"
OVERFLOW = "exp must not overflow."
LONG_ROWS = "Rows longer than the longest block of the launcher that the lesson gives."
MASKED_HEAD = "Rows that begin with many -inf."

ROW_SUM = Exercise(
    name="row_sum",
    lesson="reductions",
    title="Sum of each row, however long",
    parameters=("x",),
    reference=row_sum,
    magnitude=row_sum_magnitude,
    cases=(
        *cases(one, AXES, [(3, 10)], why="A row shorter than the block."),
        *cases(one, AXES, [(64, 64), (37, 53), (2, 1024)]),
        *cases(one, AXES, [(3, 5000), (5, 3000)], why="Rows longer than most blocks."),
        *cases(one, AXES, [(130, 33)], why="More rows than columns."),
        *cases(one, AXES, [(9, 70)], engine_orders=True),
        *cases(one, AXES, [(1, 1), (1, 700), (300, 1), (3, 1023), (3, 1025)], part="edges"),
        *cases(one, AXES, [(2, 20_000)], part="edges", why=LONG_ROWS),
        *cases(one, AXES, [(0, 5)], part="edges", why="Nothing to do."),
        *cases(one, AXES, [(5, 0)], part="edges", why="An empty sum is 0."),
        *cases(one, AXES, [(12, 70), (3, 5000)], part="types", dtypes=HALVES),
        *cases(one, AXES, [(24, 36), (17, 50), (20, 20)], part="views", views=ALL_VIEWS),
    ),
    large=cases(one, AXES, [(70_001, 33), (523, 8003)], part="edges", why="Many rows."),
    hints=(
        "A row may be longer than the block. What must the program remember from one block of the "
        "row to the next, and what is its value before the first block?",
        "Start with `total = 0.0`. Loop over `start` from 0 to n_cols in steps of BLOCK_SIZE. In "
        "each step load the columns from `start` on, with zeros in masked-off lanes, and add "
        "their sum to the total. Store after the loop.",
        "`for start in range(0, n_cols, BLOCK_SIZE):`, in it `cols = start + tl.arange(0, "
        "BLOCK_SIZE)`, `x = tl.load(x_ptr + row * stride_row + cols * stride_col, mask=cols < "
        "n_cols, other=0.0)` and `total += tl.sum(x.to(tl.float32), axis=0)`. After it: "
        "`tl.store(output_ptr + row, total)`.",
    ),
    challenge="Replace `+=` by `=` in the loop and check again: which row lengths still pass?",
    misconceptions=ROW_SUM_MISTAKES,
    parts={"core": 2, "edges": 1, "types": 1, "views": 1},
)

SOFTMAX = Exercise(
    name="softmax",
    lesson="reductions",
    title="Softmax of each row",
    parameters=("x",),
    reference=softmax,
    magnitude=softmax_magnitude,
    cases=(
        *cases(one, AXES, [(64, 64), (37, 53), (20, 128), (5, 1000)]),
        *cases(one, AXES, [(40, 40)], scale=5.0, why="Large differences within a row."),
        *cases(one, AXES, [(3, 5000)], why="Rows longer than most blocks."),
        *cases(one, AXES, [(130, 33)], why="More rows than columns."),
        *cases(one, AXES, [(9, 70)], engine_orders=True),
        *cases(one, AXES, [(1, 1), (1, 700), (300, 1), (15, 17), (4, 2)], part="edges"),
        *cases(one, AXES, [(3, 127), (3, 128), (3, 129), (3, 1023), (3, 1025)], part="edges"),
        *cases(one, AXES, [(2, 20_000)], part="edges", why=LONG_ROWS),
        *cases(one, AXES, [(0, 5)], part="edges", why="Nothing to do."),
        *cases(one, AXES, [(12, 70)], part="types", dtypes=HALVES),
        *cases(one, AXES, [(12, 70), (4, 1700)], part="types", scale=100.0, why=OVERFLOW),
        *cases(one, AXES, [(12, 70)], part="types", scale=100.0, dtypes=HALVES),
        *cases(one, AXES, [(12, 70)], part="types", shift=-300.0, why="All far below zero."),
        *cases(one, AXES, [(12, 70), (7, 2000)], part="types", fills=["neg_inf"], why="-inf."),
        *cases(
            one,
            AXES,
            [(4, 1500), (2, 20_001)],
            part="types",
            fills=["neg_inf_head"],
            why=MASKED_HEAD,
        ),
        *cases(one, AXES, [(12, 70)], part="types", fills=["zeros"], why="All the same."),
        *cases(one, AXES, [(24, 36), (17, 50)], part="views", views=ALL_VIEWS),
        *cases(one, AXES, [(3, 2100)], part="views", views=["stepped_columns"], why="Long rows."),
    ),
    large=cases(one, AXES, [(70_001, 33), (523, 8003)], part="edges", why="Many rows."),
    hints=(
        "One program handles one row. Which two numbers about the whole row does each of its "
        "elements need? In the long kernel, a loop over blocks carries these two numbers.",
        "Load masked-off lanes as -inf: they then change neither the maximum nor the sum. "
        "Subtract the maximum before exp. In the long kernel's loop, multiply the old sum by "
        "exp(old maximum - new maximum) before you add the block's terms.",
        "Short: `p = tl.exp(x - tl.max(x, axis=0))`, store `p / tl.sum(p, axis=0)`. Long, per "
        "block: `m = tl.maximum(row_max, tl.max(x, axis=0))`, `shift = tl.where(m == "
        "float('-inf'), 0.0, m)`, `row_sum = row_sum * tl.exp(row_max - shift) + tl.sum(tl.exp(x "
        "- shift), axis=0)`, `row_max = m`; then `tl.exp(x - row_max) / row_sum`.",
    ),
    challenge=(
        "Remove the subtraction of the maximum and check again: which cases still pass, and "
        "why these?"
    ),
    misconceptions=SOFTMAX_MISTAKES,
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)


def normal_arguments(eps: float) -> Maker:
    """Return the maker of x (m, n) of that kind, plain weight and bias (n,), and this eps."""

    def make(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        row = TensorSpec(shape[1:], dtype=spec["dtype"])  # type: ignore[arg-type]
        return TensorSpec(shape, **spec), row, row, eps  # type: ignore[arg-type]

    return make


def strided_parameters(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return a contiguous x, and weight and bias of that kind."""
    dense = {**spec, "view": "contiguous"}
    row = TensorSpec(shape[1:], **spec)  # type: ignore[arg-type]
    return TensorSpec(shape, **dense), row, row, 1e-5  # type: ignore[arg-type]


def strided_weight(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return contiguous x and bias, and a weight of that kind."""
    x, weight, _, eps = strided_parameters(shape, **spec)
    return x, weight, TensorSpec(shape[1:], dtype=spec["dtype"]), eps  # type: ignore[arg-type]


USUAL = normal_arguments(1e-5)
LARGE_EPS = normal_arguments(0.5)


LAYERNORM = Exercise(
    name="layernorm",
    lesson="reductions",
    title="Layer normalisation",
    parameters=("x", "weight", "bias", "eps"),
    reference=layernorm,
    magnitude=layernorm_magnitude,
    cases=(
        *cases(USUAL, AXES, [(64, 64), (37, 53), (20, 128), (5, 1000), (50, 50)]),
        *cases(USUAL, AXES, [(3, 5000)], why="Rows longer than most blocks."),
        *cases(USUAL, AXES, [(130, 33)], why="More rows than columns."),
        *cases(USUAL, AXES, [(30, 6)], shift=2.0, why="Short rows, mean not zero."),
        *cases(USUAL, AXES, [(9, 70)], engine_orders=True),
        *cases(LARGE_EPS, AXES, [(12, 70)], label="eps 0.5", why="eps belongs under the root."),
        *cases(USUAL, AXES, [(1, 1), (1, 700), (300, 1), (15, 17), (4, 2)], part="edges"),
        *cases(USUAL, AXES, [(3, 127), (3, 128), (3, 129), (3, 1025)], part="edges"),
        *cases(USUAL, AXES, [(2, 20_000)], part="edges", why=LONG_ROWS),
        *cases(USUAL, AXES, [(0, 5)], part="edges", why="Nothing to do."),
        *cases(USUAL, AXES, [(12, 70)], part="types", dtypes=HALVES),
        *cases(
            USUAL,
            AXES,
            [(12, 70), (2, 20_001)],
            part="types",
            shift=1e4,
            why="Mean far above spread.",
        ),
        *cases(USUAL, AXES, [(6, 1500)], part="types", shift=-3e3, why="Mean far from zero."),
        *cases(USUAL, AXES, [(12, 70)], part="types", shift=100.0, dtypes=HALVES),
        *cases(USUAL, AXES, [(12, 70)], part="types", scale=1e4),
        *cases(USUAL, AXES, [(12, 70)], part="types", fills=["zeros"], why="Only the bias."),
        *cases(USUAL, AXES, [(24, 36), (17, 50)], part="views", views=ALL_VIEWS),
        *cases(USUAL, AXES, [(3, 2100)], part="views", views=["stepped_columns"], why="Long rows."),
        *cases(
            strided_parameters,
            AXES,
            [(8, 44)],
            part="views",
            views=["stepped_columns"],
            label="parameters",
        ),
        *cases(
            strided_weight,
            AXES,
            [(8, 40)],
            part="views",
            views=["stepped_columns"],
            label="weight",
            why="Weight and bias have strides of their own.",
        ),
    ),
    large=cases(USUAL, AXES, [(70_001, 33), (523, 8003)], part="edges", why="Many rows."),
    hints=(
        "Two numbers describe a row: its mean and its variance. Masked-off lanes are loaded as 0. "
        "Are they still 0 after the mean has been subtracted?",
        "Compute the mean and subtract it. Set the masked-off lanes to 0 *again*, then average "
        "the squares over n_cols. The long kernel does the same in three loops: sum, squares, "
        "result. Do not use mean(x²) - mean(x)²: it cancels when the mean is large.",
        "Short: `c = tl.where(mask, x - tl.sum(x, axis=0) / n_cols, 0.0)`, `var = tl.sum(c * c, "
        "axis=0) / n_cols`, store `c / tl.sqrt(var + eps) * weight + bias`. Long: first loop "
        "`sums += tl.where(mask, x - first, 0.0)` with `first` the row's first element; then "
        "centre by `x - first - tl.sum(sums, axis=0) / n_cols`.",
    ),
    challenge=(
        "Do not set the masked-off lanes to 0 again after you subtract the mean, and check: "
        "which widths still pass?"
    ),
    misconceptions=LAYERNORM_MISTAKES,
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

EXERCISES = (ROW_SUM, SOFTMAX, LAYERNORM)
