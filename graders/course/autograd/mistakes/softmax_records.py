"""The misconceptions about the backward pass of softmax, the special ones first."""

from __future__ import annotations

from graders.course.autograd.mistakes import softmax_results as wrong
from graders.course.autograd.reference import softmax_backward, softmax_backward_magnitude
from graders.course.common import rounding, shared
from graders.course.common.detectors import RACES, READS_OUTSIDE, has_fault, has_holes
from graders.course.common.expected import (
    computes,
    computes_from_memory,
    computes_with_block,
    walks_through_blocks,
)
from graders.judge.records import Evidence, Misconception


def _nan_everywhere(evidence: Evidence) -> bool:
    """Tell whether NaN is all that came out, and no lane and no argument explains it."""
    if evidence.actual is None or evidence.faults or has_holes(evidence):
        return False
    finite = all(bool(arg.isfinite().all()) for arg in evidence.args)
    return finite and bool(evidence.actual.numel() and evidence.actual.isnan().all())


def _nan_where_padded(evidence: Evidence) -> bool:
    """Tell whether NaN is all that came out of rows that have lanes past their end."""
    columns = evidence.expected.shape[1]
    return bool(columns & (columns - 1)) and _nan_everywhere(evidence)


def _one_left(evidence: Evidence) -> bool:
    """Tell whether dy alone was left, where y is no dense tensor either."""
    y, dy = evidence.args
    left = {fault.argument for fault in evidence.faults if fault.code in READS_OUTSIDE}
    return len(left) == 1 and y.stride() != dy.stride() and has_fault(evidence, READS_OUTSIDE)


MISTAKES = (
    Misconception(
        code="sum-missing",
        title="The sum over the row is missing",
        message=(
            "The output is y * dy. But each input changes *every* output of its row, because "
            "the probabilities add up to 1. The sum accounts for that."
        ),
        next_step="First sum dy * y along the row, then store `y * (dy - row_sum)`.",
        expected_wrong=computes(wrong.without_sum),
    ),
    Misconception(
        code="diagonal-only",
        title="Each output is taken to depend on its own input only",
        message=(
            "y * (1 - y) * dy is the gradient of a sigmoid. It uses only the diagonal of the "
            "softmax's derivatives; the others, -y_i * y_j, are missing."
        ),
        next_step="Store `y * (dy - row_sum)`, with the sum of dy * y along the row.",
        expected_wrong=computes(wrong.diagonal_only),
    ),
    Misconception(
        code="factor-missing",
        title="The difference is not multiplied by y",
        message="The output is dy - sum(dy * y), without the factor y.",
        next_step="Store `y * (dy - row_sum)`.",
        expected_wrong=computes(wrong.without_factor),
    ),
    Misconception(
        code="bracket-lost",
        title="The sum is subtracted after the product",
        message="The output is y * dy - sum(dy * y). The factor y must multiply the sum as well.",
        next_step="Store `y * (dy - row_sum)`, with the parentheses.",
        expected_wrong=computes(wrong.bracket_lost),
    ),
    Misconception(
        code="factor-at-sum",
        title="Only the sum is multiplied by y",
        message="The output is dy - y * sum(dy * y). The factor y must multiply dy as well.",
        next_step="Store `y * (dy - row_sum)`, with the parentheses.",
        expected_wrong=computes(wrong.factor_at_sum),
    ),
    Misconception(
        code="log-softmax-gradient",
        title="This is the gradient of log-softmax",
        message=(
            "dy - y * sum(dy) is the gradient of the logarithm of a softmax. Here y is the "
            "softmax itself."
        ),
        next_step="Sum dy * y, and store `y * (dy - row_sum)`.",
        expected_wrong=computes(wrong.of_log_softmax),
    ),
    Misconception(
        code="sum-of-one",
        title="The sum contains dy or y alone",
        message="The row's sum adds up the products dy * y, but here it adds up only one of them.",
        next_step="`products += y * dy` in the first pass.",
        expected_wrong=computes(wrong.sum_of_one),
    ),
    Misconception(
        code="mean-for-sum",
        title="A mean is subtracted, not a sum",
        message=(
            "The sum of dy * y is divided by the number of columns. The formula subtracts the "
            "sum itself."
        ),
        next_step="Subtract the sum without dividing it.",
        expected_wrong=computes(wrong.mean_for_sum),
    ),
    Misconception(
        code="sign-reversed",
        title="The sum has the wrong sign",
        message="The output is y * (dy + sum), or the negative of the correct result.",
        next_step="Store `y * (dy - row_sum)`.",
        expected_wrong=computes(wrong.sign_reversed),
    ),
    Misconception(
        code="softmax-again",
        title="The kernel takes the softmax of y again",
        message=(
            "y is the softmax's output already. The formula contains neither x nor an exponential."
        ),
        next_step="Use y as it is loaded.",
        expected_wrong=computes(wrong.softmax_again),
    ),
    Misconception(
        code="arguments-exchanged",
        title="y and dy are exchanged",
        message="The output is dy * (y - sum(dy * y)).",
        next_step="Compare the arguments of the launch with the parameters, one by one.",
        expected_wrong=computes(wrong.arguments_exchanged),
    ),
    shared.other_missing("0.0"),
    Misconception(
        code="padding-not-neutral",
        title="Padding lanes turn the sum into NaN",
        message=(
            "Lanes past the end of the row hold -inf. That suits a maximum, but here y is "
            "multiplied by dy, and -inf * 0 is NaN."
        ),
        next_step="Use `other=0.0` in both loads: 0 adds nothing to the sum.",
        detector=_nan_where_padded,
    ),
    Misconception(
        code="end-counted-again",
        title="Lanes past the end count elements twice",
        message=(
            "Lanes past the end of the row load its last column (or its first ones) again. So "
            "the sum contains those products twice or more."
        ),
        next_step="Mask these lanes instead: `tl.load(..., mask=cols < n_cols, other=0.0)`.",
        expected_wrong=computes_with_block(wrong.end_counted_again),
    ),
    Misconception(
        code="sums-not-zeroed",
        title="The sums do not start from 0",
        message=(
            "`tl.atomic_add` adds to the old value, and the sums came from `torch.empty`, "
            "which does not clear memory. The judge fills it with NaN."
        ),
        next_step="Allocate the sums with `torch.zeros`.",
        faults=frozenset({"uninitialised-read"}),
        detector=_nan_everywhere,
    ),
    Misconception(
        code="last-block-only",
        title="The sum holds only the last block of the row",
        message=(
            "Each block's sum replaces the running sum instead of adding to it. Rows that fit "
            "into one block do not show it."
        ),
        next_step="`products += y * dy`, starting from zeros before the loop.",
        expected_wrong=walks_through_blocks(wrong.one_block_summed, unless=RACES),
    ),
    Misconception(
        code="blocks-summed-alone",
        title="Each block of a row has its own sum",
        message="A long row is split into blocks, but the sum must cover the whole row.",
        next_step="First pass over the whole row for the sum, then pass again and store.",
        expected_wrong=walks_through_blocks(wrong.each_block_alone),
    ),
    Misconception(
        code="block-not-advanced",
        title="Each step of the second pass reads the first block again",
        message=(
            "The sum and the first block are correct. The later blocks use y or dy of the "
            "*first* block: an offset does not move with the loop."
        ),
        next_step="Compute the columns in each step: `cols = start + tl.arange(0, BLOCK)`.",
        expected_wrong=walks_through_blocks(wrong.first_block_again),
    ),
    Misconception(
        code="sum-so-far",
        title="The sum is used before it is complete",
        message=(
            "Each block subtracts the running sum. Only after the last block is that the sum "
            "of the whole row."
        ),
        next_step="Use two passes: sum in the first, store in the second.",
        expected_wrong=walks_through_blocks(wrong.sum_so_far),
    ),
    Misconception(
        code="row-end-left-out",
        title="The sum misses the end of the row",
        message=(
            "The sum covers only the first block or the full blocks: the loop is missing, or "
            "`n_cols // BLOCK_SIZE` rounds down."
        ),
        next_step="`for start in range(0, n_cols, BLOCK_SIZE)`, with a mask in each step.",
        expected_wrong=walks_through_blocks(wrong.end_left_out),
        rules_out=frozenset(
            {"sum-missing"}
        ),  # of rows that are shorter than a block nothing is left
    ),
    Misconception(
        code="columns-summed",
        title="The sum runs down the columns",
        message="Each column has its own sum: the reduction runs along the wrong axis.",
        next_step=(
            "Sum along the row. With a tile of rows, use `axis=1`, and subtract `row_sum[:, None]`."
        ),
        expected_wrong=computes(wrong.over_columns) + computes_with_block(wrong.down_tiles),
    ),
    Misconception(
        code="everything-summed",
        title="Several rows share one sum",
        message="The sum covers a tile of rows, or all rows. Each row needs its own sum.",
        next_step="With a tile of rows, sum along `axis=1`, and subtract `row_sum[:, None]`.",
        expected_wrong=computes(wrong.over_everything) + computes_with_block(wrong.over_tiles),
    ),
    Misconception(
        code="strides-exchanged",
        title="One of the two is read with the strides of the other",
        message=(
            "The strides of y and dy can differ. After `.sum().backward()` the strides of dy "
            "are 0, while y is dense."
        ),
        next_step="Pass `y.stride()` and `dy.stride()`, and use each for its own pointer.",
        expected_wrong=computes_from_memory(wrong.strides_of_the_other),
        detector=_one_left,
    ),
    shared.contiguous_assumed(softmax_backward),
    shared.missing_mask("a row", "n_cols"),
    shared.tiles_missing("m", "n"),
    shared.offset_ignores_pid(),
    shared.programs_race("Several programs work on the same row."),
    rounding.lossy_dtype(softmax_backward),
    rounding.computes_in_half(softmax_backward_magnitude),
)
