"""The misconceptions about the way back through softmax, the special ones first."""

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
    """Tell whether NaN is all that came out of rows that have lanes behind their end."""
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
            "The output is y * dy. But every input of a row changes *every* output of it: what "
            "one share gains the others lose, and that is the sum which is subtracted."
        ),
        next_step="First sum dy * y along the row, then store `y * (dy - row_sum)`.",
        expected_wrong=computes(wrong.without_sum),
    ),
    Misconception(
        code="diagonal-only",
        title="Each output is taken to depend on its own input alone",
        message=(
            "y * (1 - y) * dy is the gradient of a sigmoid. Of the softmax it is the diagonal of "
            "the derivatives; those off the diagonal, -y_i * y_j, are missing."
        ),
        next_step="Store `y * (dy - row_sum)`, with the sum of dy * y along the row.",
        expected_wrong=computes(wrong.diagonal_only),
    ),
    Misconception(
        code="factor-missing",
        title="The difference is not multiplied by y",
        message="The output is dy - sum(dy * y): the factor y in front of it is missing.",
        next_step="Store `y * (dy - row_sum)`.",
        expected_wrong=computes(wrong.without_factor),
    ),
    Misconception(
        code="bracket-lost",
        title="The sum is subtracted after the product",
        message="The output is y * dy - sum(dy * y). The factor y belongs to the sum as well.",
        next_step="Store `y * (dy - row_sum)`, with the brackets.",
        expected_wrong=computes(wrong.bracket_lost),
    ),
    Misconception(
        code="factor-at-sum",
        title="Only the sum is multiplied by y",
        message="The output is dy - y * sum(dy * y). The factor y belongs to dy as well.",
        next_step="Store `y * (dy - row_sum)`, with the brackets.",
        expected_wrong=computes(wrong.factor_at_sum),
    ),
    Misconception(
        code="log-softmax-gradient",
        title="That is the gradient of log-softmax",
        message=(
            "dy - y * sum(dy) belongs to the logarithm of a softmax, which a loss often takes. "
            "Here y is the softmax itself."
        ),
        next_step="Sum dy * y, and store `y * (dy - row_sum)`.",
        expected_wrong=computes(wrong.of_log_softmax),
    ),
    Misconception(
        code="sum-of-one",
        title="The sum is one of dy, or of y, alone",
        message="What is summed along the row is the product dy * y, element by element.",
        next_step="`products += y * dy` in the first walk.",
        expected_wrong=computes(wrong.sum_of_one),
    ),
    Misconception(
        code="mean-for-sum",
        title="A mean is subtracted, not a sum",
        message="The sum of dy * y is divided by the number of columns. The weights y do that job.",
        next_step="Subtract the sum as it is.",
        expected_wrong=computes(wrong.mean_for_sum),
    ),
    Misconception(
        code="sign-reversed",
        title="The sum has the wrong sign",
        message="The output is y * (dy + sum), or that with all signs exchanged.",
        next_step="Store `y * (dy - row_sum)`.",
        expected_wrong=computes(wrong.sign_reversed),
    ),
    Misconception(
        code="softmax-again",
        title="The softmax of y is taken once more",
        message=(
            "y is what the softmax has returned: x does not come into the formula, and nothing is "
            "exponentiated on the way back."
        ),
        next_step="Use y as it is loaded.",
        expected_wrong=computes(wrong.softmax_again),
    ),
    Misconception(
        code="arguments-exchanged",
        title="y and dy have changed places",
        message="The output is dy * (y - sum(dy * y)).",
        next_step="Compare the arguments of the launch with the parameters, one by one.",
        expected_wrong=computes(wrong.arguments_exchanged),
    ),
    shared.other_missing("0.0"),
    Misconception(
        code="padding-not-neutral",
        title="What fills a row up turns its sum into NaN",
        message=(
            "Rows come out as NaN where their length is no power of two. The lanes behind the row "
            "hold -inf, which is right for a maximum. Here y is multiplied by dy, and -inf * 0 is "
            "NaN."
        ),
        next_step="Fill up with what adds nothing to a sum of products: `other=0.0` in both loads.",
        detector=_nan_where_padded,
    ),
    Misconception(
        code="end-counted-again",
        title="Lanes behind the row count elements of it again",
        message=(
            "The block is longer than what is left of the row, and the lanes that are left over "
            "were moved onto its last column (or to its first ones), to load nothing outside. "
            "Moved like that they are harmless in a load, and wrong in a sum: those products are "
            "in it twice, or more often."
        ),
        next_step=(
            "Mask the lanes in place of moving them: `tl.load(..., mask=cols < n_cols, other=0.0)`."
        ),
        expected_wrong=computes_with_block(wrong.end_counted_again),
    ),
    Misconception(
        code="sums-not-zeroed",
        title="The sums do not start from 0",
        message=(
            "`tl.atomic_add` adds to what stands there, and the sums came from `torch.empty`. "
            "There stands what somebody left in that memory; the judge leaves NaN."
        ),
        next_step="Allocate the sums with `torch.zeros`.",
        faults=frozenset({"uninitialised-read"}),
        detector=_nan_everywhere,
    ),
    Misconception(
        code="last-block-only",
        title="The sum holds the last block of the row only",
        message=(
            "Each block's sum takes the place of the sum so far, instead of being added to it. "
            "Rows that fit into one block do not show it."
        ),
        next_step="`products += y * dy`, starting from zeros before the loop.",
        expected_wrong=walks_through_blocks(wrong.one_block_summed, unless=RACES),
    ),
    Misconception(
        code="blocks-summed-alone",
        title="Each block of a row has a sum of its own",
        message="A long row is cut into blocks, but the sum must be that of the whole row.",
        next_step="First walk through the whole row for the sum, then walk again and store.",
        expected_wrong=walks_through_blocks(wrong.each_block_alone),
    ),
    Misconception(
        code="block-not-advanced",
        title="Each step of the second walk reads the first block again",
        message=(
            "The sum is right, and so is the first block. The next ones are made of y, of dy or of "
            "both as they stand in the *first* block: that offset does not move with the loop."
        ),
        next_step="Compute the columns anew in each step, `cols = start + tl.arange(0, BLOCK)`.",
        expected_wrong=walks_through_blocks(wrong.first_block_again),
    ),
    Misconception(
        code="sum-so-far",
        title="The sum is used before it is complete",
        message=(
            "Each block subtracts what was summed up to there. Only after the last block is the "
            "sum that of the row."
        ),
        next_step="Two walks: sum in the first, store in the second.",
        expected_wrong=walks_through_blocks(wrong.sum_so_far),
    ),
    Misconception(
        code="row-end-left-out",
        title="The end of the row does not enter the sum",
        message=(
            "The sum runs over the first block, or over the full blocks: the loop is missing, or "
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
        message="Each column has a sum of its own: the reduction runs along the wrong axis.",
        next_step="Sum along the row; with a tile of rows along `axis=1`, and keep `[:, None]`.",
        expected_wrong=computes(wrong.over_columns) + computes_with_block(wrong.down_tiles),
    ),
    Misconception(
        code="everything-summed",
        title="Several rows share one sum",
        message="The sum runs over a tile of rows, or over all of them. Each row has its own.",
        next_step="With a tile of rows sum along `axis=1`, and subtract `row_sum[:, None]`.",
        expected_wrong=computes(wrong.over_everything) + computes_with_block(wrong.over_tiles),
    ),
    Misconception(
        code="strides-exchanged",
        title="One of the two is read with the strides of the other",
        message=(
            "y and dy lie in memory each in its own way. After `.sum().backward()` the strides of "
            "dy are 0, while y is dense."
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
