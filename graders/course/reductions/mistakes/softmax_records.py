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
            "Rows that are negative throughout have the maximum 0 here, which no element has: it "
            "is kept running from 0, or masked lanes were loaded as 0. Then nothing brings the "
            "exponents up to 0. Where the row lies far below, every exp is 0, and 0 / 0 is NaN."
        ),
        next_step=(
            "Start with `-float('inf')`, and load masked lanes with `other=-float('inf')`: below "
            "every number there is."
        ),
        detector=all_underflowed,
    ),
    Misconception(
        code="hidden-block-nan",
        title="A block of nothing but -inf gives NaN",
        message=(
            "Where a whole block of a row is -inf, the maximum so far is still -inf, and "
            "-inf - (-inf) is NaN. From there it stays in the sum. (A row that is not -inf as a "
            "whole has a softmax.)"
        ),
        next_step="Subtract 0 in place of the maximum as long as that is -inf.",
        detector=nan_after_infinity,
    ),
    Misconception(
        code="maximum-of-tile",
        title="Several rows share one maximum",
        message=(
            "A program works on a tile of rows, and subtracts the largest number of the *tile*: "
            "`tl.max(x)` without an axis takes all of its rows together. In a row that lies far "
            "below it every exp is 0, and 0 / 0 is NaN. The tile's highest row is right."
        ),
        next_step="Take the maximum along the columns: `tl.max(x, axis=1)`, then `[:, None]`.",
        rules_out=frozenset({"max-not-subtracted"}),
        detector=tiles_underflowed,
    ),
    Misconception(
        code="maximum-of-block",
        title="Each block subtracts its own maximum, not that of the row",
        message=(
            "The sum refers to the maximum of the whole row, and so must every exp that is divided "
            "by it. In the second walk the maximum was that of the block at hand, so blocks whose "
            "maximum is smaller came out too large. Rows of one block do not show it."
        ),
        next_step="Store `tl.exp(x - row_max) / row_sum`, with the maximum of the first walk.",
        expected_wrong=walks_through_blocks(block_maximum_subtracted),
    ),
    Misconception(
        code="max-not-subtracted",
        title="exp overflows: the row's maximum is not subtracted",
        message=(
            "exp(89) is already too large for float32. It becomes inf, and inf / inf is NaN. "
            "(And where all of a row is far below zero, every exp is 0, and 0 / 0 is NaN.) "
            "Subtracting the row's maximum changes nothing mathematically and keeps every "
            "exponent at 0 or below. It has to be the maximum of the *whole* row: one that is "
            "kept running starts at -inf, not at 0, and takes in every block. (Cutting large "
            "numbers off makes them all equal, and above the mean or the minimum exp can overflow "
            "as well.)"
        ),
        next_step="Compute `tl.exp(x - tl.max(x, axis=0))`.",
        expected_wrong=computes(clamped),
        detector=either(overflowed, spread_overflowed),
    ),
    Misconception(
        code="padding-counted",
        title="The lanes beyond the row count in the sum",
        message=(
            "The block is longer than the row, and the lanes that do not exist were loaded "
            "as 0. exp(0) is 1, not 0: each of them adds a full term to the sum, so every "
            "probability comes out too small and a row no longer sums to 1. (Lanes that are "
            "wrapped round with `% n_cols` count real elements a second time.)"
        ),
        next_step="Load them with `other=-float('inf')`: exp(-inf) is 0.",
        expected_wrong=computes_with_block(padding_counted, lanes_wrapped),
    ),
    Misconception(
        code="rescaling-missing",
        title="The sum is not rescaled when the maximum grows",
        message=(
            "Terms of earlier blocks were computed with an older, smaller maximum. When a "
            "later block raises it, the old sum must be multiplied by exp(old max - new max) "
            "before the new terms are added: not by the inverse of that, and not by a ratio of "
            "the maxima. (The same holds for sums of several lanes or "
            "programs that are put together: each is first brought to the common maximum.)"
        ),
        next_step="`row_sum = row_sum * tl.exp(row_max - new_max) + tl.sum(...)`.",
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
        title="The sum holds the last block of the row only",
        message=(
            "Each block's sum takes the place of the sum so far, instead of being added to "
            "it. Rows that fit into one block do not show it."
        ),
        next_step="`row_sum += tl.sum(...)`, starting from 0 before the loop.",
        expected_wrong=walks_through_blocks(last_block_summed, unless=RACES),
    ),
    Misconception(
        code="blocks-normalised-alone",
        title="Each block of a row is normalised on its own",
        message=(
            "A long row is cut into blocks, and each block sums to 1 by itself. The maximum "
            "and the sum must be those of the whole row."
        ),
        next_step="First walk through the whole row for maximum and sum, then normalise.",
        expected_wrong=walks_through_blocks(each_block_alone),
    ),
    Misconception(
        code="columns-normalised",
        title="The columns are normalised, not the rows",
        message="Each column sums to 1: the reduction runs along the wrong axis.",
        next_step="A program takes one row and reduces over the columns.",
        expected_wrong=computes(lambda x: torch.softmax(x, dim=0))
        + computes_with_block(down_tiles),
    ),
    Misconception(
        code="everything-normalised",
        title="Rows are normalised together",
        message="The elements of several rows, or of all, sum to 1, instead of each row's.",
        next_step="With a tile of rows reduce along `axis=1` and keep `[:, None]`.",
        expected_wrong=computes(lambda x: torch.softmax(x.flatten(), dim=0).view(x.shape))
        + computes_with_block(over_tiles),
    ),
    Misconception(
        code="not-normalised",
        title="The division by the sum is missing",
        message=(
            "The output is exp(x - max), or that divided by the number of columns: a row does "
            "not sum to 1 yet."
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
            "A row sums to 1, but there is no exp: large numbers get too little, and negative "
            "ones a negative share."
        ),
        next_step="`numerator = tl.exp(x - tl.max(x, axis=0))`, and divide that by its sum.",
        expected_wrong=computes(without_exp),
    ),
    Misconception(
        code="scores-scaled",
        title="The numbers are scaled first",
        message=(
            "The output is the softmax of x times a factor, such as 1/√n. That belongs to "
            "attention; here x is taken as it is."
        ),
        next_step="Leave the factor out.",
        expected_wrong=computes(with_temperature),
    ),
    Misconception(
        code="infinity-as-zero",
        title="-inf gets a share",
        message=(
            "Elements of -inf were taken for 0. exp(-inf) is 0 already: that is how masked "
            "places are kept out of a softmax, and nothing needs to be replaced."
        ),
        next_step="Compute with -inf as it is; only inf - inf would be NaN.",
        expected_wrong=computes(infinity_as_zero),
    ),
    Misconception(
        code="eps-added",
        title="A small number is added to the sum",
        message=(
            "The divisor is the sum plus an eps. It is not needed: the largest element adds "
            "exp(0) = 1, so the sum is never 0. And it shows: a row no longer sums to 1."
        ),
        next_step="Divide by `tl.sum(numerator, axis=0)` as it is.",
        expected_wrong=computes(with_eps),
    ),
    Misconception(
        code="sum-starts-at-one",
        title="The sum does not start from 0",
        message="The divisor is 1 + sum: every share comes out too small.",
        next_step="Start the sum with 0.0.",
        expected_wrong=computes(one_too_many),
    ),
    SUM_KEPT,
    Misconception(
        code="stale-maximum",
        title="The numerators refer to an older maximum",
        message=(
            "exp(x - maximum) was stored while the maximum was still growing (and maybe the sum, "
            "too); the share of an element refers to the last ones. Earlier blocks of a row come "
            "out too large."
        ),
        next_step="Store in a second walk, when maximum and sum are known.",
        expected_wrong=walks_through_blocks(with_stale_maximum, stored_on_the_way),
    ),
    Misconception(
        code="logarithm-returned",
        title="This is the logarithm of the softmax",
        message="The output is x - max - log(sum): what a loss wants, and not the shares.",
        next_step="Store `numerator / tl.sum(numerator, axis=0)`, without a logarithm.",
        expected_wrong=computes(lambda x: torch.log_softmax(x, dim=1)),
    ),
    Misconception(
        code="base-two",
        title="The powers are powers of 2, not of e",
        message=(
            "2**(x - max) sums to 1 as well, but the shares lie too close together. exp2 is "
            "exp only when its argument is multiplied by log2(e) = 1.442695."
        ),
        next_step="Use `tl.exp(...)`, or `tl.exp2(... * 1.4426950408889634)`.",
        expected_wrong=computes(with_base_two),
    ),
    Misconception(
        code="sign-reversed",
        title="The smallest elements get the largest shares",
        message="The output is the softmax of -x: somewhere the sign is turned round.",
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
