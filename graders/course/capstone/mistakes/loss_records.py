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
            "The errors have the size of a rounding to the 11 bits of float16 (8 of bfloat16). "
            "`tl.load` returns the dtype of the logits, and arithmetic keeps it. The losses are "
            "float32 for every dtype of the logits."
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
        title="Rows with the target -100 are never stored",
        message=(
            "A row with the target -100 is ignored, and its loss is 0. The kernel must "
            "store that 0, because `torch.empty` does not initialise memory."
        ),
        next_step="Store 0.0 for such a row, in an `else` or with `tl.where`.",
        detector=marks.ignored_left_out,
    ),
    Misconception(
        code="ignored-times-zero",
        title="A loss that is not finite reaches an ignored row",
        message=(
            "The kernel multiplies the loss of a row with the target -100 by 0. If such a "
            "row holds only -inf, or has no classes, its loss is not finite, and 0 * inf "
            "is NaN."
        ),
        next_step="Use `tl.where(target == -100, 0.0, loss)` instead of a product.",
        detector=marks.ignored_times_zero,
    ),
    Misconception(
        code="ignored-counted",
        places=True,
        title="The target -100 is used as a class",
        message=(
            "The target -100 marks an ignored row, whose loss is 0. The kernel used it as "
            "a class index: it read 100 elements *before* the row, or found no class and "
            "stored the log-sum-exp."
        ),
        next_step=(
            "Write `if target == -100:` and store 0.0 there. Load the target's logit "
            "only in the `else`."
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
            "In rows with only negative logits the maximum is 0: it starts at 0, or masked-off "
            "lanes were loaded as 0. If the row is far below 0, every exp is 0, and the logarithm "
            "of 0 is -inf."
        ),
    ),
    Misconception(
        code="target-times-mask",
        title="The target's logit is picked by a product, and 0 * inf is NaN",
        message=(
            "The kernel multiplies each logit by 1 in the target's column and by 0 "
            "elsewhere, and adds the products. A logit may be -inf, and 0 * -inf is NaN."
        ),
        next_step=(
            "Load the target's logit by its address, or use `tl.sum(tl.where(cols == "
            "target, x, 0.0))`."
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
            "exp(89) is too large for float32: it becomes inf, and so does the loss. But "
            "log(sum(exp(x))) = max + log(sum(exp(x - max))), and there every exponent is 0 or "
            "below, if it is the maximum of the *whole* row."
        ),
        next_step="Sum `tl.exp(x - maximum)`, and add the maximum to the logarithm of the sum.",
    ),
    seen_through(loss_of, "padding-counted"),
    seen_through(loss_of, "rescaling-missing", marks.rescaled_to_infinity),
    shared.other_missing("-float('inf')", nan_from_padding(lambda x, _: x.shape[1])),
    seen_through(loss_of, "last-block-only"),
    Misconception(
        code="row-end-left-out",
        title="The end of the row is missing from the sum",
        message=(
            "The sum contains only the first block, or only the full blocks: the loop is "
            "missing, or `n_cols // BLOCK_SIZE` rounds down."
        ),
        next_step="Write `for start in range(0, n_cols, BLOCK_SIZE)`, with a mask in each step.",
        expected_wrong=walks_through_blocks(wrong.end_left_out),
    ),
    seen_through(
        loss_of,
        "blocks-normalised-alone",
        title="The sum contains the target's block alone",
        message=(
            "The kernel computed the loss within one block of a long row. The maximum and the sum "
            "must be those of the whole row."
        ),
        next_step="Compute maximum and sum of the whole row first, then the loss.",
    ),
    Misconception(
        code="maximum-of-one-block",
        title="The maximum that is added back is that of one block",
        message=(
            "The sum refers to the maximum of the whole row, but the kernel adds the "
            "maximum of the last block (or of the first) to its logarithm."
        ),
        next_step="After the loop add the running maximum, `row_max`.",
        expected_wrong=walks_through_blocks(wrong.last_maximum_added),
    ),
)


_OF_THE_TARGET = (
    Misconception(
        code="target-in-one-block",
        title="The target's logit is kept from one block only",
        message=(
            "Each block looks for the target's logit and overwrites the earlier result, "
            "with 0 if the target is in another block."
        ),
        next_step=(
            "Add the results: `of_target += tl.sum(tl.where(cols == target, x, 0.0))`. "
            "Or load the logit once, by its address."
        ),
        expected_wrong=walks_through_blocks(wrong.target_of_one_block),
    ),
    Misconception(
        code="target-by-lane",
        title="The target is compared with the lane, not with the column",
        message=(
            "`tl.arange(0, BLOCK_SIZE)` counts the lanes of each block from 0. That is the "
            "column in the first block only."
        ),
        next_step=(
            "Compare the target with the column: `cols = start + tl.arange(0, BLOCK_SIZE)`."
        ),
        expected_wrong=walks_through_blocks(wrong.target_by_lane),
    ),
    Misconception(
        code="target-of-another-row",
        title="The logit of a wrong column is subtracted",
        message=(
            "The log-sum-exp is correct, but the subtracted logit is in the wrong column: "
            "that of another row's target, of the row's number, or a neighbour."
        ),
        next_step="Load `target = tl.load(targets_ptr + row)`, and count columns from 0.",
        expected_wrong=computes(wrong.target_of_another_row),
    ),
    Misconception(
        code="target-address-wrong",
        places=True,
        title="The target's logit is read at a wrong address",
        message=(
            "The loop over the row is correct, but the address of the single load of the "
            "target's logit lacks the row or a stride."
        ),
        next_step="Load it with `tl.load(logits_ptr + row * stride_row + target * stride_col)`.",
        expected_wrong=computes_from_memory(wrong.row_forgotten),
    ),
    Misconception(
        code="target-not-subtracted",
        title="The target's logit is not subtracted",
        message=(
            "The output is the log-sum-exp of the row. The target's logit is not "
            "subtracted, or the kernel compares the target with *values* and not with "
            "columns."
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
            "log(sum(exp(x - max))) is smaller than log(sum(exp(x))) by the maximum. What "
            "you subtract in the exponent you must add once after the logarithm."
        ),
        next_step="Write `loss = row_max + tl.log(row_sum) - of_target`.",
        expected_wrong=computes(wrong.without_maximum),
    ),
    Misconception(
        code="log-missing",
        title="The logarithm is missing",
        message=(
            "The loss is minus the *logarithm* of the target's probability. The kernel "
            "uses the sum of the exponentials, or the probability itself, without a "
            "logarithm."
        ),
        next_step="Write `loss = row_max + tl.log(row_sum) - of_target`.",
        expected_wrong=computes(wrong.without_log),
    ),
    Misconception(
        code="maximum-alone",
        title="The logarithm of the sum is missing",
        message=(
            "The output is the maximum minus the target's logit. That is close to the loss "
            "only if one logit is much larger than the others."
        ),
        next_step="Add `tl.log(row_sum)`.",
        expected_wrong=computes(wrong.maximum_alone),
    ),
    Misconception(
        code="sign-reversed",
        title="A sign is wrong",
        message=(
            "The output is the logarithm of the probability, which is negative, or the "
            "target's logit was added. A loss is 0 or more."
        ),
        next_step="Write `loss = row_max + tl.log(row_sum) - of_target`.",
        expected_wrong=computes(wrong.sign_reversed),
    ),
    Misconception(
        code="mean-for-rows",
        title="The losses are averaged, or added up",
        message=(
            "Each row has its own loss, as with `reduction='none'`. The output holds the "
            "mean or the sum of the losses, or losses divided by a count."
        ),
        next_step="Store one loss for each row, without a division.",
        expected_wrong=computes(wrong.averaged),
    ),
    Misconception(
        code="base-two",
        title="Powers or logarithms to the base 2 are not converted",
        message=(
            "The kernel uses `tl.exp2` or `tl.log2`, but the loss is defined with e: "
            "exp(x) is exp2(x · log2(e)), and log(x) is log2(x) · ln(2)."
        ),
        next_step=(
            "Use `tl.exp` and `tl.log`. Or multiply the argument of `tl.exp2` by "
            "1.442695041, and the result of `tl.log2` by 0.693147181."
        ),
        expected_wrong=computes(wrong.base_two),
    ),
    Misconception(
        code="softmax-twice",
        title="The loss is that of the softmax",
        message=(
            "The kernel applied softmax first, and took the log-sum-exp of the "
            "probabilities. The formula already contains the softmax."
        ),
        next_step="Take the log-sum-exp of the unchanged logits.",
        expected_wrong=computes(wrong.softmax_twice),
    ),
    Misconception(
        code="logits-for-shares",
        title="The logits are used as probabilities",
        message=(
            "The output is minus the target's logit, or minus its logarithm. That is the "
            "loss for log-probabilities or probabilities; logits are neither."
        ),
        next_step="Subtract the target's logit from the log-sum-exp of its row.",
        expected_wrong=computes(wrong.logits_for_shares),
    ),
    Misconception(
        code="columns-summed",
        title="The sum runs over a column",
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
            "The last losses were never stored: the grid has too few programs, or a "
            "program that computes several rows does not reach its last ones."
        ),
        next_step=(
            "Launch one program for each row, `grid = (n_rows,)`. If a program takes "
            "several rows, round up."
        ),
        detector=_too_few_programs,
    ),
    shared.programs_race("Several programs store the same row's loss."),
)
