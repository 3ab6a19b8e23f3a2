"""The misconceptions about the loss of rows of logits, the special ones first."""

from __future__ import annotations

from dataclasses import replace

import torch

from graders.course.capstone.mistakes import loss_results as wrong
from graders.course.capstone.mistakes import marks
from graders.course.capstone.mistakes.of_softmax import seen_through
from graders.course.capstone.mistakes.shares import loss_of
from graders.course.capstone.reference import cross_entropy, cross_entropy_magnitude
from graders.course.common import rounding, shared, strides
from graders.course.common.detectors import (
    STRAYS,
    either,
    has_fault,
    has_holes,
    nan_from_padding,
    programs,
    ran_out_of_programs,
)
from graders.course.common.expected import computes, computes_from_memory, walks_through_blocks
from graders.judge.cases.compare import widened
from graders.judge.records import Evidence, Misconception

ENOUGH_ROWS = 12  # whose roundings go both ways


def _for_each_class(evidence: Evidence) -> bool:
    """Tell whether there are as many programs as classes, and those do not suit the rows."""
    rows, classes = evidence.args[0].shape
    broken = has_holes(evidence) or has_fault(evidence, STRAYS)
    return broken and programs(evidence) == classes != rows


def _too_few_programs(evidence: Evidence) -> bool:
    return not marks.ignored_left_out(evidence) and ran_out_of_programs(evidence)


def _lossy_dtype() -> Misconception:
    """Of the loss, which is float32 for every dtype: numbers on the way were rounded to 16 bits."""
    record = rounding.lossy_dtype(cross_entropy)
    on_the_way = rounding.terms_in_half(cross_entropy_magnitude).detector
    assert record.detector is not None
    assert on_the_way is not None
    rounded = either(record.detector, on_the_way, _rounded_coarsely)
    return replace(
        record,
        message=(
            "The losses are nearly right, and look as if a number on the way had been rounded to "
            "the 11 bits of float16 (8 of bfloat16). What tl.load brings has the dtype of the "
            "logits, and so has what is computed with it, and what a buffer of that dtype holds. "
            "The losses are float32, whatever the logits are."
        ),
        detector=lambda evidence: not _all_on_one_side(evidence) and rounded(evidence),
    )


def _all_on_one_side(evidence: Evidence) -> bool:
    """Tell whether the losses of many rows are all too large, or all too small: no rounding is."""
    if evidence.actual is None or len(evidence.actual) < ENOUGH_ROWS:
        return False
    error = (evidence.actual.double() - evidence.expected.double()).sign()
    return bool((error >= 0).all() or (error <= 0).all())


def _rounded_coarsely(evidence: Evidence) -> bool:
    """Tell whether float32 losses are as far off as a few roundings to 16 bits."""
    actual = evidence.actual
    if actual is None or actual.dtype != torch.float32:
        return False
    room = 2.0**-7 * cross_entropy_magnitude(*widened(evidence.args))
    error = (actual.double() - evidence.expected.double()).abs()
    return bool((error <= room).all()) and evidence.args[0].dtype != torch.float32


_OF_ROWS_THAT_DO_NOT_COUNT = (
    Misconception(
        code="ignored-not-stored",
        places=True,
        title="Rows with the target -100 are left out altogether",
        message=(
            "A row with the target -100 does not count, and its loss is 0. That 0 must be "
            "stored: `torch.empty` brings whatever lay in that memory."
        ),
        next_step="Store 0.0 for such a row, in an `else` or with `tl.where`.",
        detector=marks.ignored_left_out,
    ),
    Misconception(
        code="ignored-times-zero",
        title="A loss that is not finite gets into a row that does not count",
        message=(
            "The loss of a row with the target -100 is multiplied by 0. That is 0 for a number, "
            "but 0 * inf is NaN: where such a row holds nothing but -inf, or has no classes, its "
            "loss is not finite."
        ),
        next_step="Choose, do not multiply: `tl.where(target == -100, 0.0, loss)`.",
        detector=marks.ignored_times_zero,
    ),
    Misconception(
        code="ignored-counted",
        places=True,
        title="The target -100 is taken for a class",
        message=(
            "-100 says that a row does not count: its loss is 0. Here it was used like the "
            "number of a class, which reads 100 elements *before* the row (out of the tensor, "
            "or somebody else's logits), or finds no class and leaves the log-sum-exp."
        ),
        next_step=(
            "Ask first: `if target == -100:` store 0.0, and load the target's logit only in "
            "the `else`. (Or mask that load, and end with `tl.where(target == -100, 0.0, "
            "loss)`.)"
        ),
        expected_wrong=computes(wrong.ignored_counted),
        detector=either(marks.only_ignored_wrong, marks.reads_at_ignored),
    ),
)


_OF_THE_SUM = (
    seen_through(
        loss_of,
        "maximum-from-zero",
        marks.all_underflowed,
        message=(
            "Rows that are negative throughout have the maximum 0 here, which no element has: "
            "it is kept running from 0, or masked lanes were loaded as 0. Where the row lies "
            "far below, every exp is 0, and the logarithm of 0 is -inf."
        ),
    ),
    Misconception(
        code="target-times-mask",
        title="The target's logit is picked by a product, and 0 * inf is NaN",
        message=(
            "Each logit is multiplied by 1 where its column is the target, and by 0 elsewhere, and "
            "the products are summed. A logit may be -inf, and 0 * -inf is NaN: every row with a "
            "-inf is lost, wherever it stands."
        ),
        next_step=(
            "Load the target's logit by its address, or choose: "
            "`tl.sum(tl.where(cols == target, x, 0.0))`."
        ),
        rules_out=frozenset({"hidden-block-nan", "max-not-subtracted"}),
        detector=marks.infinity_times_zero,
    ),
    seen_through(loss_of, "hidden-block-nan", marks.nan_after_infinity),
    seen_through(
        loss_of,
        "max-not-subtracted",
        either(marks.overflowed, marks.nan_after_infinity),
        message=(
            "exp(89) is already too large for float32: it becomes inf, and so does the loss. "
            "(Where all of a row is far below zero, every exp is 0, and its logarithm -inf.) "
            "log(sum(exp(x))) = max + log(sum(exp(x - max))) holds exactly, and there every "
            "exponent is 0 or below. It has to be the maximum of the *whole* row."
        ),
        next_step=("Sum `tl.exp(x - maximum)`, and add the maximum to the logarithm of the sum."),
    ),
    seen_through(loss_of, "padding-counted"),
    seen_through(loss_of, "rescaling-missing", marks.rescaled_to_infinity),
    shared.other_missing("-float('inf')", nan_from_padding(lambda x, _: x.shape[1])),
    seen_through(loss_of, "last-block-only"),
    Misconception(
        code="row-end-left-out",
        title="The end of the row does not enter the sum",
        message=(
            "The sum runs over the first block, or over the full blocks: the loop is missing, "
            "or `n_cols // BLOCK_SIZE` rounds down."
        ),
        next_step="`for start in range(0, n_cols, BLOCK_SIZE)`, with a mask in each step.",
        expected_wrong=walks_through_blocks(wrong.end_left_out),
    ),
    seen_through(
        loss_of,
        "blocks-normalised-alone",
        title="The sum is that of the target's block alone",
        message=(
            "A long row is cut into blocks, and the loss was computed within one of them. "
            "The maximum and the sum must be those of the whole row."
        ),
        next_step="Walk through the whole row for maximum and sum, then compute the loss.",
    ),
    Misconception(
        code="maximum-of-one-block",
        title="The maximum that is added is that of one block",
        message=(
            "The sum refers to the maximum of the whole row, but what was added to its "
            "logarithm is the maximum of the last block (or of the first)."
        ),
        next_step="Behind the loop add the running maximum, `row_max`.",
        expected_wrong=walks_through_blocks(wrong.last_maximum_added),
    ),
)


_OF_THE_TARGET = (
    Misconception(
        code="target-in-one-block",
        title="The target's logit is kept of one block only",
        message=(
            "In each block the target's logit is looked for, and what is found takes the "
            "place of what was found before: a 0, in every block that does not hold the "
            "target. So it is lost unless the target lies in the last block (or the first)."
        ),
        next_step=(
            "Add: `of_target += tl.sum(tl.where(cols == target, x, 0.0))`. Or load it once, "
            "by its address."
        ),
        expected_wrong=walks_through_blocks(wrong.target_of_one_block),
    ),
    Misconception(
        code="target-by-lane",
        title="The target is compared with the number of a lane",
        message=(
            "`tl.arange(0, BLOCK_SIZE)` counts the lanes of each block from 0. Only in the "
            "first block is that the column: behind it a target is found in each block "
            "again, or never."
        ),
        next_step="Compare the column: `cols = start + tl.arange(0, BLOCK_SIZE)`.",
        expected_wrong=walks_through_blocks(wrong.target_by_lane),
    ),
    Misconception(
        code="target-of-another-row",
        title="The target of another row, or another class, is looked up",
        message=(
            "The log-sum-exp is right, but the logit that is subtracted stands in the wrong "
            "column: that of another row's target, of the row's own number, or one beside it."
        ),
        next_step="`target = tl.load(targets_ptr + row)`, the column counted from 0.",
        expected_wrong=computes(wrong.target_of_another_row),
    ),
    Misconception(
        code="target-address-wrong",
        places=True,
        title="The target's logit is read at a wrong address",
        message=(
            "The walk through the row is right, but the single load of the target's logit is "
            "not: the row was left out of its address, or a stride."
        ),
        next_step="`tl.load(logits_ptr + row * stride_row + target * stride_col)`.",
        expected_wrong=computes_from_memory(wrong.row_forgotten),
    ),
    Misconception(
        code="target-not-subtracted",
        title="The target's logit is not subtracted",
        message=(
            "The output is the log-sum-exp of the row, and the target does not come into it. "
            "(That also happens where the *values* of the row are compared with the target, in "
            "place of the numbers of the columns: hardly any value equals it.)"
        ),
        next_step="Subtract the logit in column `target`.",
        expected_wrong=computes(wrong.without_target),
    ),
)


_OF_THE_FORMULA = (
    Misconception(
        code="maximum-not-added-back",
        title="The maximum is not added back",
        message=(
            "log(sum(exp(x - max))) is smaller than log(sum(exp(x))) by the maximum: what was "
            "subtracted in the exponent has to be added behind the logarithm, once."
        ),
        next_step="`loss = row_max + tl.log(row_sum) - of_target`.",
        expected_wrong=computes(wrong.without_maximum),
    ),
    Misconception(
        code="log-missing",
        title="The logarithm is missing",
        message=(
            "The loss is minus the *logarithm* of the share of the target. Here the sum of the "
            "exponentials, or the share itself, is where the logarithm belongs."
        ),
        next_step="`loss = row_max + tl.log(row_sum) - of_target`.",
        expected_wrong=computes(wrong.without_log),
    ),
    Misconception(
        code="maximum-alone",
        title="The logarithm of the sum is left out",
        message=(
            "The output is the maximum minus the target's logit. That is near the loss where "
            "one logit towers above the others, and 0 where the target has the largest one."
        ),
        next_step="Add `tl.log(row_sum)`.",
        expected_wrong=computes(wrong.maximum_alone),
    ),
    Misconception(
        code="sign-reversed",
        title="A sign is wrong",
        message=(
            "The output is the logarithm of the share, which is negative, or the target's "
            "logit was added. A loss is 0 or more: minus that logarithm."
        ),
        next_step="`loss = row_max + tl.log(row_sum) - of_target`.",
        expected_wrong=computes(wrong.sign_reversed),
    ),
    Misconception(
        code="mean-for-rows",
        title="The losses are averaged, or added up",
        message=(
            "Each row has a loss of its own, as with `reduction='none'`. The output holds "
            "their mean, their sum, or shares of these."
        ),
        next_step="Store one loss for each row, and divide it by nothing.",
        expected_wrong=computes(wrong.averaged),
    ),
    Misconception(
        code="base-two",
        title="Powers or logarithms to the base 2 are not converted",
        message=(
            "`tl.exp2` and `tl.log2` are what a GPU computes fastest, but the loss is defined "
            "by e: exp(x) is exp2(x · log2(e)), and log(x) is log2(x) · ln(2)."
        ),
        next_step=(
            "Use `tl.exp` and `tl.log`. Or multiply the argument of `tl.exp2` by 1.442695041, "
            "and what `tl.log2` gives by 0.693147181."
        ),
        expected_wrong=computes(wrong.base_two),
    ),
    Misconception(
        code="softmax-twice",
        title="The loss is that of the softmax",
        message=(
            "The logits went through a softmax first, and the log-sum-exp was taken of the "
            "shares. The softmax is in the formula already."
        ),
        next_step="Take the log-sum-exp of the logits as they are.",
        expected_wrong=computes(wrong.softmax_twice),
    ),
    Misconception(
        code="logits-for-shares",
        title="The logits are taken for shares",
        message=(
            "The output is minus the target's logit, or minus its logarithm. Only for "
            "logarithms of shares, and for shares, is that the loss; logits are neither."
        ),
        next_step="Subtract the target's logit from the log-sum-exp of its row.",
        expected_wrong=computes(wrong.logits_for_shares),
    ),
    Misconception(
        code="columns-summed",
        title="The sum runs down a column",
        message="The log-sum-exp is that of the target's *column*, not of the row.",
        next_step="A program takes one row and sums over its columns.",
        expected_wrong=computes(wrong.over_columns),
    ),
    *(
        seen_through(loss_of, code)
        for code in (
            "everything-normalised",
            "scores-scaled",
            "infinity-as-zero",
            "eps-added",
            "sum-starts-at-one",
        )
    ),
)


MISTAKES = (
    *_OF_ROWS_THAT_DO_NOT_COUNT,
    *_OF_THE_SUM,
    *_OF_THE_TARGET,
    *_OF_THE_FORMULA,
    replace(strides.column_stride_ignored(cross_entropy), code="classes-not-neighbours"),
    shared.contiguous_assumed(cross_entropy),
    _lossy_dtype(),
    replace(shared.programs_by_column(), detector=_for_each_class),
    shared.missing_mask("a row", "n_cols"),
    shared.offset_ignores_pid(),
    Misconception(
        code="grid-too-small",
        places=True,
        title="There was no program for the last rows",
        message=(
            "The losses at the end were never stored: the grid has too few programs, or a program "
            "that takes several rows does not come to its last ones."
        ),
        next_step="One program for each row, `grid = (n_rows,)`; for several rows round up.",
        detector=_too_few_programs,
    ),
    shared.programs_race("Several programs store the same row's loss."),
)
