"""What counts as solved in the lesson on reductions."""

from __future__ import annotations

from graders.course.reductions.mistakes.layernorm_records import MISTAKES as LAYERNORM_MISTAKES
from graders.course.reductions.mistakes.softmax_records import MISTAKES as SOFTMAX_MISTAKES
from graders.course.reductions.reference import (
    layernorm,
    layernorm_magnitude,
    softmax,
    softmax_magnitude,
)
from graders.judge.cases.builders import ALL_VIEWS, HALVES, Maker, cases, one
from graders.judge.records import Arg, Choice, Exercise, Question, TensorSpec

AXES = "rows columns"
OVERFLOW = "exp must not overflow."
LONG_ROWS = "Rows longer than the longest block of the launcher that the lesson gives."
MASKED_HEAD = "Rows that begin with many -inf."


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
        "A row is one program's work. Which two numbers about the whole row does each of its "
        "elements need?",
        "Lanes beyond the row must change neither the maximum nor the sum: load them as -inf, "
        "then exp makes them 0. Subtract the maximum first, or exp overflows at 89.",
        "`x = tl.load(..., mask=cols < n_cols, other=-float('inf')).to(tl.float32)`, "
        "`numerator = tl.exp(x - tl.max(x, axis=0))`, store `numerator / tl.sum(numerator, "
        "axis=0)`.",
    ),
    challenge="Do not subtract the maximum and check again: which cases still pass, and why these?",
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
        "Two numbers describe a row: its mean and its variance. Lanes beyond the row are 0 when "
        "they are loaded. Are they still 0 after the mean has been subtracted?",
        "Compute the mean first, subtract it, set the lanes beyond the row to 0 *again*, and "
        "average the squares over n_cols. The short cut E[x²] - mean² loses everything when the "
        "mean is large.",
        "`mean = tl.sum(x, axis=0) / n_cols`, `centred = tl.where(mask, x - mean, 0.0)`, "
        "`variance = tl.sum(centred * centred, axis=0) / n_cols`, and store `centred / "
        "tl.sqrt(variance + eps) * weight + bias`.",
    ),
    challenge=(
        "Do not set the lanes beyond the row to 0 again after the mean is subtracted, and "
        "check: which widths still pass?"
    ),
    misconceptions=LAYERNORM_MISTAKES,
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

EXERCISES = (SOFTMAX, LAYERNORM)

QUIZ = (
    Question(
        "A row of 1000 elements is loaded into a block of 1024 for a softmax. Which `other`?",
        (
            Choice("0.0", "exp(0) is 1: 24 lanes that do not exist would add 24 to the sum."),
            Choice(
                "-inf",
                "Yes: it never wins the maximum, and exp(-inf) adds nothing to the sum.",
                right=True,
            ),
            Choice(
                "None is needed, because the store is masked.",
                "The reduction sees all lanes of the block, also those that are never stored.",
            ),
        ),
    ),
    Question(
        "Why does softmax subtract the maximum of the row?",
        (
            Choice(
                "To make the row sum to 1.",
                "The division does that.",
            ),
            Choice(
                "So that no exponential overflows; the result is mathematically the same.",
                "Yes: numerator and denominator are both multiplied by exp(-max).",
                right=True,
            ),
            Choice("To save time.", "It costs an extra reduction. It buys correctness."),
        ),
    ),
    Question(
        "What is wrong with variance = mean(x²) - mean(x)² in float32?",
        (
            Choice(
                "Nothing, and it saves a pass.",
                "With a mean far above the spread, two large and nearly equal numbers are "
                "subtracted, and only rounding errors remain.",
            ),
            Choice(
                "It cancels when the mean is large compared with the spread.",
                "Yes. Subtract the mean first (the row is in registers anyway).",
                right=True,
            ),
            Choice(
                "It divides by n instead of n - 1.",
                "Layer normalisation wants n.",
            ),
        ),
    ),
    Question(
        "In the online softmax, what happens to the sum so far when a block has a larger maximum?",
        (
            Choice("It stays as it is.", "Its terms were computed relative to the old maximum."),
            Choice(
                "It is multiplied by exp(old maximum - new maximum).",
                "Yes: that turns exp(x - old) into exp(x - new) for all terms at once.",
                right=True,
            ),
            Choice("It starts again at 0.", "Then the earlier blocks would be forgotten."),
        ),
    ),
)
