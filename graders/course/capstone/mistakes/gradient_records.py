"""The misconceptions about the gradient of a loss of logits, the special ones first."""

from __future__ import annotations

from dataclasses import replace

from graders.course.capstone.mistakes import gradient_results as wrong
from graders.course.capstone.mistakes import marks
from graders.course.capstone.mistakes.of_softmax import seen_through
from graders.course.capstone.mistakes.shares import gradient_of
from graders.course.capstone.reference import (
    cross_entropy_backward,
    cross_entropy_backward_magnitude,
)
from graders.course.common import rounding, shared, strides
from graders.course.common.detectors import READS_OUTSIDE, either, has_fault, nan_from_padding
from graders.course.common.expected import computes, computes_from_memory, walks_through_blocks
from graders.judge.records import Evidence, Misconception


def _dloss_left(evidence: Evidence) -> bool:
    """Tell whether the kernel read outside of a dloss that is no dense tensor."""
    dloss = evidence.args[2]
    return not dloss.is_contiguous() and has_fault(evidence, READS_OUTSIDE)


_OF_ROWS_THAT_DO_NOT_COUNT = (
    Misconception(
        code="ignored-not-stored",
        places=True,
        title="Rows with the target -100 are never stored",
        message=(
            "The gradient of an ignored row is 0 in each column. The kernel must store "
            "those zeros, because `torch.empty` does not initialise memory."
        ),
        next_step="Loop over such a row as well, and store zeros.",
        detector=marks.ignored_left_out,
    ),
    Misconception(
        code="ignored-times-zero",
        title="A dloss that is NaN reaches an ignored row",
        message=(
            "The gradient of a row with the target -100 is 0, whatever dloss holds there. "
            "The kernel multiplies dloss by 0, and 0 · NaN is NaN."
        ),
        next_step="Use `tl.where(target == -100, 0.0, ...)` or an `if` instead of a product.",
        detector=marks.garbage_let_in,
    ),
    Misconception(
        code="ignored-counted",
        places=True,
        title="Rows with the target -100 get a gradient",
        message=(
            "No column has the number -100, so the kernel subtracted nothing and stored "
            "softmax times dloss. The loss of such a row is 0 for all logits, so its "
            "gradient is 0."
        ),
        next_step="Store zeros where the target is -100.",
        expected_wrong=computes(wrong.ignored_counted),
        detector=either(marks.only_ignored_wrong, marks.reads_at_ignored),
    ),
)


_OF_DLOSS = (
    Misconception(
        code="dloss-read-as-dense",
        title="The stride of dloss is ignored",
        message=(
            "After `.sum().backward()` dloss is one expanded number with stride 0. A "
            "kernel that steps by 1 reads past that number."
        ),
        next_step="Pass `dloss.stride(0)`, and load `tl.load(dloss_ptr + row * stride_dloss)`.",
        expected_wrong=computes_from_memory(wrong.dloss_misread),
        detector=_dloss_left,
    ),
    Misconception(
        code="dloss-missing",
        title="dloss is missing",
        message=(
            "The output is softmax - one-hot: the gradient of the *sum* of the losses. "
            "dloss is the weight of each loss in what follows."
        ),
        next_step="Multiply each row by its dloss.",
        expected_wrong=computes(wrong.without_dloss),
    ),
    Misconception(
        code="dloss-of-another-row",
        title="All rows have the same dloss",
        message=(
            "Each row has its own dloss. The kernel multiplied all rows by the first one, "
            "by their sum or by their mean."
        ),
        next_step="Load `dloss = tl.load(dloss_ptr + row * stride_dloss)`.",
        expected_wrong=computes(wrong.dloss_for_all),
    ),
    Misconception(
        code="divided-by-rows",
        title="The gradient is divided by a number of rows or columns",
        message=(
            "dloss already contains the division of a mean. The kernel must not divide again."
        ),
        next_step="Multiply by dloss, without a division.",
        expected_wrong=computes(wrong.averaged),
    ),
    Misconception(
        code="bracket-lost",
        title="Only one of the two terms is multiplied by dloss",
        message="dloss belongs to the difference: (softmax - one-hot) * dloss.",
        next_step="Subtract first, then multiply.",
        expected_wrong=computes(wrong.bracket_lost),
    ),
)


_OF_ONE_HOT = (
    Misconception(
        code="one-hot-missing",
        title="Nothing is subtracted at the target",
        message=(
            "The output is softmax times dloss, also in the target's column. Nothing is "
            "subtracted, or the kernel compares the target with *values* and not with "
            "columns."
        ),
        next_step="Write `tl.where(cols == target, share - 1.0, share)`.",
        expected_wrong=computes(wrong.without_one_hot),
    ),
    Misconception(
        code="softmax-missing",
        title="Only the target's logit gets a gradient",
        message=(
            "Each logit is part of the sum in the loss, so each has a gradient: its "
            "probability. Here all columns except the target's are 0."
        ),
        next_step="Store the probability in every column, minus 1 at the target.",
        expected_wrong=computes(wrong.without_shares),
    ),
    Misconception(
        code="one-in-one-block",
        title="1 is subtracted in the first block only, or in the last",
        message=(
            "A target may be in any block of its row. The kernel subtracted the 1 only if "
            "the target is in the first block, or in the last."
        ),
        next_step="Compare `cols == target` in each step of the second pass.",
        expected_wrong=walks_through_blocks(wrong.one_in_one_block),
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
        code="one-everywhere",
        title="The same number is subtracted in every column",
        message="One-hot is 1 in the column of the target and 0 in all others.",
        next_step="Write `tl.where(cols == target, share - 1.0, share)`.",
        expected_wrong=computes(wrong.one_everywhere),
    ),
    Misconception(
        code="target-of-another-row",
        title="1 is subtracted in a wrong column",
        message=(
            "The 1 is subtracted in a neighbouring column, in the column of another row's "
            "target, or in the column of the row's number."
        ),
        next_step="Load `target = tl.load(targets_ptr + row)`, and count columns from 0.",
        expected_wrong=computes(wrong.wrong_column),
    ),
)


_OF_THE_FORMULA = (
    Misconception(
        code="sign-reversed",
        title="A sign is wrong",
        message=(
            "The output is one-hot - softmax, or the sum of both. The gradient should be "
            "negative at the target and positive in the other columns."
        ),
        next_step="Store (softmax - one-hot) * dloss.",
        expected_wrong=computes(wrong.sign_reversed),
    ),
    Misconception(
        code="not-normalised",
        title="The exponentials are not divided by their sum",
        message=(
            "The kernel uses exp(x - max), exp(x), a logit or a logarithm in place of the "
            "probability. Probabilities sum to 1, so a row of the gradient sums to 0."
        ),
        next_step="Write `share = tl.exp(x - row_max) / row_sum`.",
        expected_wrong=computes(wrong.not_normalised),
    ),
    Misconception(
        code="gradient-of-softmax",
        title="This is the gradient of the probability, not of its logarithm",
        message=(
            "The derivative of the logarithm divides by the probability again. That "
            "cancels a factor, and softmax - one-hot remains."
        ),
        next_step="Store (softmax - one-hot) * dloss.",
        expected_wrong=computes(wrong.of_softmax),
    ),
    Misconception(
        code="base-two",
        title="The powers are powers of 2, not of e",
        message=("exp2(x) equals exp(x) only if its argument is multiplied by log2(e) = 1.442695."),
        next_step="Use `tl.exp(...)`, or `tl.exp2(... * 1.4426950408889634)`.",
        expected_wrong=computes(wrong.base_two),
    ),
    Misconception(
        code="columns-normalised",
        title="The columns are normalised, not the rows",
        message=(
            "The probabilities of a column sum to 1: the reduction runs along the wrong axis."
        ),
        next_step="A program takes one row and reduces over the columns.",
        expected_wrong=computes(wrong.over_columns),
    ),
)


_OF_THE_SUM = (
    seen_through(gradient_of, "maximum-from-zero", marks.all_underflowed),
    seen_through(gradient_of, "hidden-block-nan", marks.nan_after_infinity),
    seen_through(
        gradient_of, "max-not-subtracted", either(marks.overflowed, marks.nan_after_infinity)
    ),
    seen_through(gradient_of, "padding-counted"),
    seen_through(gradient_of, "rescaling-missing", marks.rescaled_to_infinity),
    shared.other_missing("-float('inf')", nan_from_padding(lambda x, *_: x.shape[1])),
    seen_through(gradient_of, "last-block-only"),
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
    *(
        seen_through(gradient_of, code)
        for code in (
            "blocks-normalised-alone",
            "stale-maximum",
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
    *_OF_DLOSS,
    *_OF_ONE_HOT,
    *_OF_THE_FORMULA,
    *_OF_THE_SUM,
    strides.output_strides_of_input(cross_entropy_backward),
    replace(strides.column_stride_ignored(cross_entropy_backward), code="classes-not-neighbours"),
    shared.contiguous_assumed(cross_entropy_backward),
    rounding.computes_in_half(cross_entropy_backward_magnitude),
    rounding.lossy_dtype(cross_entropy_backward),
    shared.programs_by_column(),
    shared.missing_mask("a row", "n_cols"),
    shared.tiles_missing("t", "v"),
    shared.offset_ignores_pid(),
    shared.programs_race("Several programs work on the same row."),
)
