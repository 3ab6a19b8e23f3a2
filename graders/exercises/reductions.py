"""What counts as solved in the lesson on reductions."""

from __future__ import annotations

import torch

from graders.judge import mistakes
from graders.judge.casebook import ALL_VIEWS, HALVES, Maker, cases, one
from graders.judge.footprints import computes, computes_with_block, either, nan_from_padding
from graders.judge.model import (
    Arg,
    Choice,
    Exercise,
    Misconception,
    Question,
    TensorSpec,
)
from graders.judge.row_mistakes import (
    cancelled,
    divided_by_block,
    each_block_alone,
    eps_outside,
    layernorm,
    layernorm_magnitude,
    normalised,
    overflowed,
    overflowing,
    padded_and_divided_by_block,
    padding_counted,
    padding_in_variance,
    row_variance,
    softmax,
    softmax_magnitude,
    sum_not_rescaled,
)

AXES = "rows columns"


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
        *cases(one, AXES, [(0, 5)], part="edges"),
        *cases(one, AXES, [(12, 70)], part="types", dtypes=HALVES),
        *cases(one, AXES, [(12, 70)], part="types", scale=100.0, why="exp must not overflow."),
        *cases(one, AXES, [(12, 70)], part="types", scale=100.0, dtypes=HALVES),
        *cases(one, AXES, [(12, 70)], part="types", shift=-300.0, why="All far below zero."),
        *cases(one, AXES, [(12, 70), (7, 2000)], part="types", fills=["neg_inf"], why="-inf."),
        *cases(one, AXES, [(12, 70)], part="types", fills=["zeros"], why="All the same."),
        *cases(one, AXES, [(24, 36), (17, 50)], part="views", views=ALL_VIEWS),
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
    misconceptions=(
        Misconception(
            code="max-not-subtracted",
            title="exp overflows: the maximum is not subtracted",
            message=(
                "exp(89) is already too large for float32. It becomes inf, and inf / inf is NaN. "
                "(And where all of a row is far below zero, every exp is 0, and 0 / 0 is NaN.) "
                "Subtracting the row's maximum changes nothing mathematically and keeps every "
                "exponent at 0 or below."
            ),
            next_step="Compute `tl.exp(x - tl.max(x, axis=0))`.",
            imitate=overflowing,
            footprint=overflowed,
        ),
        Misconception(
            code="padding-counted",
            title="The lanes beyond the row count in the sum",
            message=(
                "The block is longer than the row, and the lanes that do not exist were loaded "
                "as 0. exp(0) is 1, not 0: each of them adds a full term to the sum, so every "
                "probability comes out too small and a row no longer sums to 1."
            ),
            next_step="Load them with `other=-float('inf')`: exp(-inf) is 0.",
            faults=frozenset({"masked-lanes-used"}),
            footprint=either(
                computes_with_block(padding_counted), nan_from_padding(lambda x: x.shape[1])
            ),
        ),
        Misconception(
            code="rescaling-missing",
            title="The sum is not rescaled when the maximum grows",
            message=(
                "Terms of earlier blocks were computed with an older, smaller maximum. When a "
                "later block raises it, the old sum must be multiplied by exp(old max - new max) "
                "before the new terms are added."
            ),
            next_step="`row_sum = row_sum * tl.exp(row_max - new_max) + tl.sum(...)`.",
            footprint=computes_with_block(sum_not_rescaled),
        ),
        Misconception(
            code="blocks-normalised-alone",
            title="Each block of a row is normalised on its own",
            message=(
                "A long row is cut into blocks, and each block sums to 1 by itself. The maximum "
                "and the sum must be those of the whole row."
            ),
            next_step="First walk through the whole row for maximum and sum, then normalise.",
            footprint=computes_with_block(each_block_alone),
        ),
        Misconception(
            code="columns-normalised",
            title="The columns are normalised, not the rows",
            message="Each column sums to 1: the reduction runs along the wrong axis.",
            next_step="A program takes one row and reduces over the columns.",
            imitate=lambda x: torch.softmax(x, dim=0),
        ),
        Misconception(
            code="everything-normalised",
            title="The whole matrix is normalised at once",
            message="All elements together sum to 1, instead of each row.",
            next_step="With a tile of rows reduce along `axis=1` and keep `[:, None]`.",
            imitate=lambda x: torch.softmax(x.flatten(), dim=0).view(x.shape),
        ),
        Misconception(
            code="not-normalised",
            title="The division by the sum is missing",
            message="The output is exp(x - max): a row does not sum to 1 yet.",
            next_step="Divide by `tl.sum(numerator, axis=0)`.",
            imitate=lambda x: torch.exp(x - x.amax(dim=1, keepdim=True)),
            footprint=computes(lambda x: torch.exp(x), lambda x: torch.log_softmax(x, dim=1)),
        ),
        mistakes.contiguous_assumed(softmax),
        mistakes.lossy_dtype(softmax),
        mistakes.missing_mask("a row", "n_cols"),
        mistakes.tiles_missing("n_rows", "n_cols"),
        mistakes.offset_ignores_pid(),
    ),
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
        *cases(USUAL, AXES, [(3, 127), (3, 128), (3, 129), (3, 1025), (0, 5)], part="edges"),
        *cases(USUAL, AXES, [(12, 70)], part="types", dtypes=HALVES),
        *cases(USUAL, AXES, [(12, 70)], part="types", shift=1e4, why="Mean far above spread."),
        *cases(USUAL, AXES, [(6, 1500)], part="types", shift=-3e3, why="Mean far from zero."),
        *cases(USUAL, AXES, [(12, 70)], part="types", shift=100.0, dtypes=HALVES),
        *cases(USUAL, AXES, [(12, 70)], part="types", scale=1e4),
        *cases(USUAL, AXES, [(12, 70)], part="types", fills=["zeros"], why="Only the bias."),
        *cases(USUAL, AXES, [(24, 36), (17, 50)], part="views", views=ALL_VIEWS),
        *cases(
            strided_parameters,
            AXES,
            [(8, 44)],
            part="views",
            views=["stepped_columns"],
            label="parameters",
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
    misconceptions=(
        Misconception(
            code="variance-by-difference",
            title="The variance is lost in a difference of large numbers",
            message=(
                "mean(x²) - mean(x)² is right on paper. In float32, with a mean of 10 000 and a "
                "spread of 1, both terms are about 10⁸ and keep no digits for the difference of "
                "1: the variance becomes noise, even negative, and its root NaN."
            ),
            next_step="Subtract the mean first and average the squares of what is left.",
            footprint=cancelled,
        ),
        Misconception(
            code="padding-counted",
            title="The lanes beyond the row count in the variance",
            message=(
                "They were loaded as 0, but after subtracting the mean they are -mean, and each "
                "adds mean² to the sum of squares. With a mean near zero it hardly shows."
            ),
            next_step="`centred = tl.where(mask, x - mean, 0.0)` before you square.",
            faults=frozenset({"masked-lanes-used"}),
            footprint=either(
                computes_with_block(padding_in_variance),
                nan_from_padding(lambda x, weight, bias, eps: x.shape[1]),
            ),
        ),
        Misconception(
            code="divided-by-block",
            title="The sums are divided by the block size",
            message=(
                "Mean and variance are averages over the `n_cols` elements of the row. The block "
                "is usually longer (`tl.arange` wants a power of two), so dividing by it, or "
                "averaging over all its lanes, makes both too small."
            ),
            next_step="Divide by `n_cols`, not by `BLOCK_SIZE`.",
            footprint=either(
                computes_with_block(divided_by_block),
                computes_with_block(padded_and_divided_by_block),
            ),
        ),
        Misconception(
            code="unbiased-variance",
            title="The variance is divided by n - 1",
            message=(
                "That is the estimate of a statistician from a sample. Layer normalisation uses "
                "the biased variance, divided by n."
            ),
            next_step="Divide the sum of squares by `n_cols`.",
            imitate=lambda x, weight, bias, eps: (
                normalised(x, x.mean(1, True), row_variance(x) * x.shape[1] / (x.shape[1] - 1), eps)
                * weight
                + bias
            ),
        ),
        Misconception(
            code="eps-outside-root",
            title="eps is added outside the root",
            message="The divisor is √variance + eps; it should be √(variance + eps).",
            next_step="`tl.sqrt(variance + eps)`.",
            imitate=eps_outside,
            footprint=computes(lambda x, weight, bias, eps: layernorm(x, weight, bias, 0.0)),
        ),
        Misconception(
            code="root-missing",
            title="The row is divided by its variance, not by its deviation",
            message="The square root is missing: the result has the wrong scale.",
            next_step="Divide by `tl.sqrt(variance + eps)`.",
            imitate=lambda x, weight, bias, eps: (
                (x - x.mean(1, True)) / (row_variance(x) + eps) * weight + bias
            ),
            footprint=computes(lambda x, weight, bias, eps: (x - x.mean(1, True)) * weight + bias),
        ),
        Misconception(
            code="mean-not-subtracted",
            title="The mean is not subtracted",
            message="The rows have the right spread, but they are not centred on zero.",
            next_step="Store `(x - mean) / ...`, not `x / ...`.",
            imitate=lambda x, weight, bias, eps: (
                normalised(x, 0 * x, row_variance(x), eps) * weight + bias
            ),
        ),
        Misconception(
            code="weight-missing",
            title="The weight is missing",
            message="The normalised rows are not multiplied by the weight.",
            next_step="Load the weight of each column once and multiply.",
            imitate=lambda x, weight, bias, eps: layernorm(x, 0 * weight + 1, bias, eps),
        ),
        Misconception(
            code="bias-missing",
            title="The bias is missing",
            message="The output is the normalised, weighted row; the bias is not added.",
            next_step="Add the bias of each column at the end.",
            imitate=lambda x, weight, bias, eps: layernorm(x, weight, 0 * bias, eps),
        ),
        Misconception(
            code="columns-normalised",
            title="The columns are normalised, not the rows",
            message="Mean and variance were taken down the columns.",
            next_step="A program takes one row and reduces over the columns.",
            imitate=lambda x, weight, bias, eps: (
                normalised(x, x.mean(0), row_variance(x.t())[:, 0], eps) * weight + bias
            ),
        ),
        mistakes.contiguous_assumed(layernorm),
        mistakes.lossy_dtype(layernorm),
        mistakes.missing_mask("a row", "n_cols"),
        mistakes.tiles_missing("n_rows", "n_cols"),
        mistakes.offset_ignores_pid(),
    ),
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
