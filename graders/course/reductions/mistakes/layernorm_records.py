"""The misconceptions about layer normalisation, the special ones first."""

from __future__ import annotations

from graders.course.common import rounding, shared, strides
from graders.course.common.detectors import RACES
from graders.course.common.expected import computes, computes_with_block, walks_through_blocks
from graders.course.common.strays import has_left
from graders.course.reductions.mistakes.layernorm_results import (
    block_means_averaged,
    cancelled,
    columns_of_tile,
    constant_row_divided_by_zero,
    divided_by_block,
    divided_by_rows,
    eps_elsewhere,
    eps_ignored,
    last_block_alone,
    normalised,
    of_whole_tile,
    ones_in_the_mean,
    other_centres,
    other_spreads,
    padding_in_shifted_variance,
    padding_in_variance,
    parameters_misapplied,
    parameters_of_first_block,
    squares_not_centred,
    within_blocks_only,
)
from graders.course.reductions.reference import layernorm, layernorm_magnitude, row_variance
from graders.judge.records import Evidence, Misconception


def _bias_left_by_stride_of_weight(evidence: Evidence) -> bool:
    """Tell whether a dense bias was left beside a weight whose numbers lie apart."""
    _, weight, bias, _ = evidence.args
    alike = bias.is_contiguous() and weight.stride(0) > 1
    return alike and has_left(evidence, bias, frozenset({"out-of-bounds-load"}))


MISTAKES = (
    Misconception(
        code="variance-by-difference",
        everywhere=True,
        title="The variance is lost in a difference of large numbers",
        message=(
            "The kernel computes mean(x²) - mean(x)². In float32, with a mean of 10 000 and a "
            "spread of 1, both terms are about 10⁸ and their difference is rounding error."
        ),
        next_step=(
            "Subtract the mean first, then average the squares: `tl.sum(centred * centred, "
            "axis=0) / n_cols`."
        ),
        detector=cancelled,
    ),
    Misconception(
        code="padding-counted",
        title="Masked-off lanes count in the variance",
        message=(
            "Masked-off lanes enter the sum of squares. Loaded as 0, they are -mean after the "
            "mean is subtracted, and each adds mean². Loaded as another number, they change the "
            "mean, too."
        ),
        next_step=(
            "Load with `other=0.0`, and write `centred = tl.where(mask, x - mean, 0.0)` before "
            "you square."
        ),
        expected_wrong=computes_with_block(
            padding_in_variance, padding_in_shifted_variance, ones_in_the_mean
        ),
    ),
    shared.other_missing("0.0"),
    Misconception(
        code="divided-by-block",
        title="The sums are divided by the block size",
        message=(
            "Mean or variance is divided by the number of lanes in the block. The row has only "
            "`n_cols` elements, so the result is too small."
        ),
        next_step="Divide by `n_cols`, not by `BLOCK_SIZE`.",
        expected_wrong=computes_with_block(divided_by_block),
    ),
    Misconception(
        code="divided-by-rows",
        title="The sums are divided by the number of rows",
        message=(
            "Mean and variance are divided by the number of rows. Each row has as many elements "
            "as there are columns; a square matrix hides this."
        ),
        next_step="Divide by `n_cols`, which is `x.shape[1]`.",
        expected_wrong=computes(divided_by_rows),
    ),
    Misconception(
        code="unbiased-variance",
        title="The variance is divided by n - 1",
        message=(
            "The sum of squares is divided by n - 1, as in the estimate from a sample. Layer norm "
            "uses the biased variance, divided by n."
        ),
        next_step="Divide the sum of squares by `n_cols`.",
        expected_wrong=computes(
            lambda x, weight, bias, eps: (
                normalised(x, x.mean(1, True), row_variance(x) * x.shape[1] / (x.shape[1] - 1), eps)
                * weight
                + bias
            )
        ),
    ),
    Misconception(
        code="eps-ignored",
        title="The eps of the call is not used",
        message=(
            "The kernel leaves eps out, or uses a fixed number for it. This shows when the call "
            "passes another eps, and in rows whose elements are all equal."
        ),
        next_step="Pass `eps` to the kernel, and divide by `tl.sqrt(variance + eps)`.",
        expected_wrong=computes(eps_ignored),
        detector=constant_row_divided_by_zero,
    ),
    Misconception(
        code="eps-outside-root",
        title="eps is not added under the root",
        message=(
            "The divisor should be √(variance + eps). Here eps is added outside the root, or "
            "twice, or is a lower bound for the variance."
        ),
        next_step="Divide by `tl.sqrt(variance + eps)`.",
        expected_wrong=computes(eps_elsewhere),
    ),
    Misconception(
        code="root-missing",
        title="The row is divided by its variance, not by its standard deviation",
        message="The square root is missing, so the result has the wrong scale.",
        next_step="Divide by `tl.sqrt(variance + eps)`.",
        expected_wrong=computes(
            lambda x, weight, bias, eps: (
                (x - x.mean(1, True)) / (row_variance(x) + eps) * weight + bias
            ),
            lambda x, weight, bias, eps: (x - x.mean(1, True)) * weight + bias,
        ),
    ),
    Misconception(
        code="sum-not-divided",
        title="The sum of squares is not divided by n",
        message=(
            "The variance is the *mean* of (x - mean)². Without the division by n, long rows come "
            "out much too small."
        ),
        next_step="`variance = tl.sum(centred * centred, axis=0) / n_cols`.",
        expected_wrong=computes(
            lambda x, weight, bias, eps: (
                normalised(x, x.mean(1, True), row_variance(x) * x.shape[1], eps) * weight + bias
            ),
            lambda x, weight, bias, eps: (
                normalised(x, x.mean(1, True), row_variance(x) / x.shape[1], eps) * weight + bias
            ),
        ),
    ),
    Misconception(
        code="sum-goes-on",
        title="The sum of squares starts where the sum for the mean ended",
        message=(
            "One accumulator is used for both passes and is not set to 0 between them. So the "
            "variance contains the sum for the mean as well."
        ),
        next_step="Start the second pass with an accumulator of zeros.",
        expected_wrong=computes(
            lambda x, weight, bias, eps: (
                normalised(x, x.mean(1, True), row_variance(x) + x.mean(1, True), eps) * weight
                + bias
            )
        ),
    ),
    Misconception(
        code="last-block-only",
        title="Only the last block of the row counts",
        message=(
            "In the loop over a long row, each block's sum replaces the sum so far, for the mean "
            "or for the variance. Rows that fit into one block do not show it."
        ),
        next_step="Add each block to the sum, `total += ...`, starting from 0.0 before the loop.",
        expected_wrong=walks_through_blocks(last_block_alone, unless=RACES),
    ),
    Misconception(
        code="between-blocks-missing",
        title="The distance between the blocks' means is missing",
        message=(
            "Each block's squares are taken around the block's own mean. When you combine blocks, "
            "you must add delta² · n₁ · n₂ / (n₁ + n₂), where delta is the difference of their "
            "means."
        ),
        next_step=(
            "Add that term, or compute the row's mean first and the squares in a second pass."
        ),
        expected_wrong=walks_through_blocks(within_blocks_only),
    ),
    Misconception(
        code="means-averaged",
        title="The means of the blocks are averaged as if all were full",
        message=(
            "The mean of the blocks' means is the row's mean only if all blocks have equally many "
            "elements. Here the last block has fewer, and counts too much."
        ),
        next_step="Add up the *sums* of the blocks, and divide once by `n_cols`.",
        expected_wrong=walks_through_blocks(block_means_averaged),
    ),
    Misconception(
        code="parameters-not-advanced",
        title="Weight or bias is always that of the first block",
        message=(
            "Each column has its own weight and bias. From the second block of a long row on, the "
            "kernel uses those of the first block again."
        ),
        next_step=(
            "Load weight and bias with the same column offsets as x, in each step of the loop."
        ),
        expected_wrong=walks_through_blocks(parameters_of_first_block),
    ),
    Misconception(
        code="mean-not-subtracted",
        title="The mean is not subtracted",
        message="The rows have the correct spread, but they are not centred on zero.",
        next_step="Store `(x - mean) / ...`, not `x / ...`.",
        expected_wrong=computes(
            lambda x, weight, bias, eps: normalised(x, 0 * x, row_variance(x), eps) * weight + bias,
            lambda x, weight, bias, eps: (
                normalised(x, 0 * x, (x * x).mean(1, True), eps) * weight + bias
            ),
        ),
    ),
    Misconception(
        code="variance-not-centred",
        title="The squares are taken without subtracting the mean",
        message=(
            "The variance is the mean of (x - mean)². Here it is the mean of x², or that minus "
            "the mean instead of its square. With a mean near zero the difference is small."
        ),
        next_step="`centred = x - mean` first, then `tl.sum(centred * centred, axis=0) / n_cols`.",
        expected_wrong=computes(squares_not_centred),
    ),
    Misconception(
        code="other-centre",
        title="Something other than the mean is subtracted",
        message=(
            "The rows are centred on their smallest, largest or first element, or the mean is "
            "subtracted twice. So the result does not have mean 0."
        ),
        next_step="Subtract `tl.sum(x, axis=0) / n_cols`, once.",
        expected_wrong=computes(other_centres),
    ),
    Misconception(
        code="other-spread",
        title="The row is not divided by its standard deviation",
        message=(
            "The rows are centred, but then divided by something else, such as the range or the "
            "mean absolute value, or multiplied by the standard deviation."
        ),
        next_step="Divide by `tl.sqrt(variance + eps)`, or multiply by `tl.rsqrt(variance + eps)`.",
        expected_wrong=computes(other_spreads),
    ),
    Misconception(
        code="tile-normalised",
        title="The rows of a tile share their statistics",
        message=(
            "Each row has its own mean and variance. Here the reduction runs over both axes of a "
            "tile, so all rows of the tile use the same ones."
        ),
        next_step="Reduce along `axis=1` only, and keep the column: `mean[:, None]`.",
        expected_wrong=computes_with_block(of_whole_tile),
    ),
    Misconception(
        code="input-added",
        title="The input is added to the result",
        message=(
            "The output is the layer norm plus x. The contract asks for no residual connection."
        ),
        next_step="Store the normalised row, times the weight, plus the bias.",
        expected_wrong=computes(lambda x, weight, bias, eps: x + layernorm(x, weight, bias, eps)),
    ),
    Misconception(
        code="parameters-exchanged",
        title="Weight and bias are mixed up",
        message=(
            "The result is normalised · weight + bias. Here the two are exchanged, or one is used "
            "for both, or the bias is multiplied by the weight."
        ),
        next_step=(
            "Multiply by the weight, then add the bias. Check the order of the launch's arguments."
        ),
        expected_wrong=computes(
            lambda x, weight, bias, eps: layernorm(x, bias, weight, eps),
            lambda x, weight, bias, eps: layernorm(x, weight, bias * weight, eps),
            lambda x, weight, bias, eps: layernorm(x, weight, weight, eps),
            lambda x, weight, bias, eps: layernorm(x, bias, bias, eps),
        ),
    ),
    Misconception(
        code="parameters-misapplied",
        title="Weight or bias is applied in another way",
        message=(
            "The result is the normalised row, times the weight of each column, plus the bias of "
            "each column. Here one of them is added, multiplied, signed or indexed differently."
        ),
        next_step="Store `normalised * weight + bias`, both loaded with the column offsets.",
        expected_wrong=computes(parameters_misapplied),
    ),
    Misconception(
        code="weight-missing",
        title="The weight is missing",
        message="The normalised rows are not multiplied by the weight.",
        next_step="Load the weight of each column and multiply by it.",
        expected_wrong=computes(
            lambda x, weight, bias, eps: layernorm(x, 0 * weight + 1, bias, eps)
        ),
    ),
    Misconception(
        code="bias-missing",
        title="The bias is missing",
        message="The output is the normalised row times the weight; the bias is not added.",
        next_step="Add the bias of each column at the end.",
        expected_wrong=computes(lambda x, weight, bias, eps: layernorm(x, weight, 0 * bias, eps)),
    ),
    Misconception(
        code="columns-normalised",
        title="The columns are normalised, not the rows",
        message="Mean and variance are taken down the columns, not along the rows.",
        next_step="Let a program take one row and reduce over its columns.",
        expected_wrong=computes(
            lambda x, weight, bias, eps: (
                normalised(x, x.mean(0), row_variance(x.t())[:, 0], eps) * weight + bias
            )
        )
        + computes_with_block(columns_of_tile),
    ),
    strides.output_strides_of_input(layernorm),
    Misconception(
        code="bias-stride-of-weight",
        title="The bias is read with the stride of the weight",
        message=(
            "The weight is a view with a stride above 1, the bias is contiguous, and the kernel "
            "uses the weight's stride for both. So its loads leave the bias."
        ),
        next_step="Pass `bias.stride(0)` as well, and load `bias_ptr + cols * stride_bias`.",
        rules_out=frozenset({"contiguous-assumed"}),
        detector=_bias_left_by_stride_of_weight,
    ),
    shared.contiguous_assumed(layernorm),
    rounding.computes_in_half(layernorm_magnitude),
    rounding.lossy_dtype(layernorm),
    shared.axes_of_grid_swapped(),
    shared.programs_by_column(),
    shared.missing_mask("a row", "n_cols"),
    shared.axis_ignores_pid(),
    shared.tiles_missing("n_rows", "n_cols"),
    shared.offset_ignores_pid(),
)
