"""The misconceptions about softmax, the special ones first."""

from __future__ import annotations

import torch

from graders.course.common import rounding, shared, strides
from graders.course.common.detectors import RACES, either, nan_from_padding
from graders.course.common.expected import computes, computes_with_block, walks_through_blocks
from graders.course.reductions.mistakes.kept_sums import SUM_KEPT
from graders.course.reductions.mistakes.softmax_results import (
    all_underflowed,
    block_maximum_subtracted,
    blocks_not_merged,
    clamped,
    divided_by_length,
    down_tiles,
    each_block_alone,
    infinity_as_zero,
    lanes_not_merged,
    lanes_wrapped,
    last_block_summed,
    nan_after_infinity,
    one_too_many,
    over_tiles,
    overflowed,
    padding_counted,
    rescaled_by_ratio,
    rescaled_the_wrong_way,
    rescaled_to_infinity,
    spread_overflowed,
    stored_on_the_way,
    sum_not_rescaled,
    tiles_underflowed,
    with_base_two,
    with_eps,
    with_stale_maximum,
    with_temperature,
    without_exp,
)
from graders.course.reductions.reference import softmax, softmax_magnitude
from graders.judge.records import Misconception

MISTAKES = (
    Misconception(
        code="maximum-from-zero",
        title="The maximum starts from 0",
        message=(
            "In a row of negative numbers the maximum here is 0, which no element has. Far below "
            "zero every exp is then 0, and 0 / 0 is NaN."
        ),
        next_step=(
            "Start the maximum at `float('-inf')`, and load masked-off lanes with "
            "`other=float('-inf')`."
        ),
        detector=all_underflowed,
    ),
    Misconception(
        code="hidden-block-nan",
        title="A block that is all -inf gives NaN",
        message=(
            "A whole block of the row is -inf, so the maximum so far is still -inf. Then -inf - "
            "(-inf) is NaN, and it stays in the sum."
        ),
        next_step=(
            "While the maximum is -inf, subtract 0 instead: `shift = tl.where(new_max == "
            "float('-inf'), 0.0, new_max)`."
        ),
        detector=nan_after_infinity,
    ),
    Misconception(
        code="maximum-of-tile",
        title="Several rows share one maximum",
        message=(
            "`tl.max(x)` without an axis takes all rows of a tile together. In a row far below "
            "that maximum every exp is 0, and 0 / 0 is NaN."
        ),
        next_step="Take the maximum along the columns: `tl.max(x, axis=1)`, then `[:, None]`.",
        rules_out=frozenset({"max-not-subtracted"}),
        detector=tiles_underflowed,
    ),
    Misconception(
        code="maximum-of-block",
        title="Each block subtracts its own maximum, not that of the row",
        message=(
            "The sum refers to the maximum of the whole row, but the second pass subtracts the "
            "maximum of each block. Blocks with a smaller maximum come out too large."
        ),
        next_step="Store `tl.exp(x - row_max) / row_sum`, with the maximum of the first pass.",
        expected_wrong=walks_through_blocks(block_maximum_subtracted),
    ),
    Misconception(
        code="max-not-subtracted",
        title="exp overflows or underflows: the row's maximum is not subtracted",
        message=(
            "In float32, exp(89) is already inf, and inf / inf is NaN. Far below zero every exp "
            "is 0, and 0 / 0 is NaN. The maximum must be that of the whole row."
        ),
        next_step=(
            "Compute `tl.exp(x - tl.max(x, axis=0))`. In a loop, start the maximum at "
            "`float('-inf')` and update it with each block."
        ),
        expected_wrong=computes(clamped),
        detector=either(overflowed, spread_overflowed),
    ),
    Misconception(
        code="padding-counted",
        title="Masked-off lanes count in the sum",
        message=(
            "The block is longer than the row, and its masked-off lanes enter the sum. Loaded as "
            "0, each adds exp(0 - maximum), so every probability comes out too small."
        ),
        next_step="Load them with `other=float('-inf')`, without `% n_cols`: exp(-inf) is 0.",
        expected_wrong=computes_with_block(padding_counted, lanes_wrapped),
    ),
    Misconception(
        code="rescaling-missing",
        title="The sum is not rescaled correctly when the maximum grows",
        message=(
            "The terms of earlier blocks refer to an older, smaller maximum. When the maximum "
            "grows, multiply the old sum by exp(old max - new max) before you add new terms."
        ),
        next_step=(
            "`row_sum = row_sum * tl.exp(row_max - new_max) + tl.sum(...)`. Do the same when you "
            "merge sums of lanes or programs."
        ),
        expected_wrong=walks_through_blocks(
            sum_not_rescaled,
            rescaled_the_wrong_way,
            rescaled_by_ratio,
            lanes_not_merged,
            blocks_not_merged,
        ),
        detector=rescaled_to_infinity,
        rules_out=frozenset({"not-normalised"}),  # which lanes that hold one element each look like
    ),
    shared.other_missing("-float('inf')", nan_from_padding(lambda x: x.shape[1])),
    Misconception(
        code="last-block-only",
        title="The sum contains only the last block of the row",
        message=(
            "Each block's sum replaces the sum so far. Rows that fit into one block do not show it."
        ),
        next_step="Write `row_sum += tl.sum(...)`, starting from 0.0 before the loop.",
        expected_wrong=walks_through_blocks(last_block_summed, unless=RACES),
    ),
    Misconception(
        code="blocks-normalised-alone",
        title="Each block of a row is normalised on its own",
        message=(
            "Each block of a long row adds up to 1 by itself. The maximum and the sum must be "
            "those of the whole row."
        ),
        next_step=(
            "First pass over the whole row for maximum and sum, then normalise in a second pass."
        ),
        expected_wrong=walks_through_blocks(each_block_alone),
    ),
    Misconception(
        code="columns-normalised",
        title="The columns are normalised, not the rows",
        message="Each column adds up to 1: the reduction runs along the wrong axis.",
        next_step="Let a program take one row and reduce over its columns.",
        expected_wrong=computes(lambda x: torch.softmax(x, dim=0))
        + computes_with_block(down_tiles),
    ),
    Misconception(
        code="everything-normalised",
        title="Rows are normalised together",
        message="The elements of several rows add up to 1 together. Each row must add up to 1.",
        next_step="For a tile of rows reduce along `axis=1` and keep the axis: `[:, None]`.",
        expected_wrong=computes(lambda x: torch.softmax(x.flatten(), dim=0).view(x.shape))
        + computes_with_block(over_tiles),
    ),
    Misconception(
        code="not-normalised",
        title="The division by the sum is missing",
        message=(
            "The output is exp(x - max), or that divided by the number of columns. So a row does "
            "not add up to 1."
        ),
        next_step="Divide by `tl.sum(numerator, axis=0)`.",
        expected_wrong=computes(
            lambda x: torch.exp(x - x.amax(dim=1, keepdim=True)),
            lambda x: torch.exp(x),
            divided_by_length,
        ),
    ),
    Misconception(
        code="exp-missing",
        title="The numbers themselves are divided by their sum",
        message=(
            "A row adds up to 1, but there is no exp. Large numbers get too little, and negative "
            "numbers get a negative probability."
        ),
        next_step="Compute `numerator = tl.exp(x - tl.max(x, axis=0))`, and divide it by its sum.",
        expected_wrong=computes(without_exp),
    ),
    Misconception(
        code="scores-scaled",
        title="The numbers are scaled first",
        message=(
            "The output is the softmax of x times a factor, such as 1/√n. Attention uses such a "
            "factor; this exercise does not."
        ),
        next_step="Remove the factor.",
        expected_wrong=computes(with_temperature),
    ),
    Misconception(
        code="infinity-as-zero",
        title="-inf gets a probability above 0",
        message=(
            "Elements of -inf are replaced by 0. exp(-inf) is 0 already, so they need no "
            "replacement."
        ),
        next_step="Compute with -inf as it is. Avoid only -inf - (-inf), which is NaN.",
        expected_wrong=computes(infinity_as_zero),
    ),
    Misconception(
        code="eps-added",
        title="A small number is added to the sum",
        message=(
            "The divisor is the sum plus a small number, so a row no longer adds up to 1. The sum "
            "is never 0: the largest element adds exp(0) = 1."
        ),
        next_step="Divide by `tl.sum(numerator, axis=0)` as it is.",
        expected_wrong=computes(with_eps),
    ),
    Misconception(
        code="sum-starts-at-one",
        title="The sum does not start from 0",
        message="The divisor is 1 + sum, so every probability comes out too small.",
        next_step="Start the sum at 0.0.",
        expected_wrong=computes(one_too_many),
    ),
    SUM_KEPT,
    Misconception(
        code="stale-maximum",
        title="The numerators refer to an older maximum",
        message=(
            "The kernel stores exp(x - maximum) while the maximum can still grow. So earlier "
            "blocks of a row come out too large."
        ),
        next_step="Store in a second pass, when maximum and sum are final.",
        expected_wrong=walks_through_blocks(with_stale_maximum, stored_on_the_way),
    ),
    Misconception(
        code="logarithm-returned",
        title="This is the logarithm of the softmax",
        message=(
            "The output is x - max - log(sum), which is what a loss function uses. The contract "
            "asks for the probabilities."
        ),
        next_step="Store `numerator / tl.sum(numerator, axis=0)`, without a logarithm.",
        expected_wrong=computes(lambda x: torch.log_softmax(x, dim=1)),
    ),
    Misconception(
        code="base-two",
        title="The powers are powers of 2, not of e",
        message=(
            "2**(x - max) is used in place of exp, so the probabilities are too close together. "
            "exp2 equals exp only if you multiply its argument by log2(e) = 1.442695."
        ),
        next_step="Use `tl.exp(...)`, or `tl.exp2(... * 1.4426950408889634)`.",
        expected_wrong=computes(with_base_two),
    ),
    Misconception(
        code="sign-reversed",
        title="The smallest elements get the largest probabilities",
        message="The output is the softmax of -x: a sign is reversed.",
        next_step="The exponent is `x - maximum`, not `maximum - x` or `minimum - x`.",
        expected_wrong=computes(lambda x: softmax(-x)),
    ),
    strides.output_strides_of_input(softmax),
    shared.contiguous_assumed(softmax),
    rounding.computes_in_half(softmax_magnitude),
    rounding.lossy_dtype(softmax),
    shared.axes_of_grid_swapped(),
    shared.programs_by_column(),
    shared.missing_mask("a row", "n_cols"),
    shared.axis_ignores_pid(),
    shared.tiles_missing("n_rows", "n_cols"),
    shared.offset_ignores_pid(),
)
