"""The misconceptions about the expert of a row: which matrix it is multiplied by."""

from __future__ import annotations

from graders.course.common.detectors import RACES, has_fault
from graders.course.common.expected import computes, computes_from_memory, computes_with_block
from graders.course.common.strays import left
from graders.course.experts.mistakes import dealing
from graders.course.experts.mistakes import wrong_results as wrong
from graders.course.experts.mistakes.of_each_expert import groups
from graders.judge.records import Evidence, Misconception


def _reads_behind_last_expert(evidence: Evidence) -> bool:
    """Tell whether a read of w lies wholly behind the last of its matrices."""
    w = evidence.args[1]
    behind = w.shape[0] * w.stride(0)
    return any(seen.lowest >= behind for seen in left(evidence, w))


def _output_from_first_row(evidence: Evidence) -> bool:
    """Tell whether programs met in rows no further down than the longest group has."""
    missing = dealing.rows_missing(evidence)
    if missing is None or not missing.any() or not has_fault(evidence, RACES):
        return False
    longest = max(end - first for first, end in groups(evidence.args[2]))
    return not missing[:longest].any() and bool(missing[longest:].all())


OF_THE_OWNER = (
    Misconception(
        code="expert-of-first-row",
        title="A tile uses one expert for rows of two",
        message=(
            "Some tiles contain rows of several experts. The kernel multiplied all rows of "
            "such a tile by the matrix of one expert. Groups that end at multiples of "
            "BLOCK_M do not show it."
        ),
        next_step=(
            "Give each expert its own tiles: the first begins at `offsets[i]`, and the "
            "last one ends at `offsets[i + 1]`, full or not."
        ),
        expected_wrong=computes_with_block(wrong.of_block_start),
    ),
    Misconception(
        code="expert-always-first",
        title="Every row is multiplied by the matrix of expert 0",
        message=(
            "The result is x @ w[0] for all rows: the address of w does not depend on the "
            "expert. Neighbouring matrices are `w.stride(0)` elements apart."
        ),
        next_step="Write `w_ptr += expert.to(tl.int64) * stride_we` before the loop over k.",
        expected_wrong=computes(wrong.first_expert),
    ),
    Misconception(
        code="expert-stride-wrong",
        title="The stride between the matrices of w is wrong",
        message=(
            "Expert 0 is correct and the others are not. The kernel multiplies the "
            "expert's number by another stride than that of the first axis of w. (k · n is "
            "correct only if w is contiguous.)"
        ),
        next_step="Write `w_ptr + expert * stride_we` with `stride_we = w.stride(0)`.",
        expected_wrong=computes_from_memory(wrong.other_expert_stride),
    ),
    Misconception(
        code="expert-off-by-one",
        title="Rows are multiplied by the matrix of a neighbouring expert",
        message=(
            "The number of the expert is one too large or too small. After the last expert "
            "there is no matrix, and the kernel reads past the end of w."
        ),
        next_step=(
            "Expert i has the rows from `offsets[i]` up to `offsets[i + 1]`. Count the "
            "prefix sums of the tiles that are `<= tile`."
        ),
        expected_wrong=computes(wrong.next_expert),
        detector=_reads_behind_last_expert,
    ),
    Misconception(
        code="boundary-row-misplaced",
        title="One row at the edge of a group has the wrong expert",
        message=(
            "The first row of each expert was multiplied by the matrix of the expert "
            "before it, or the last row by that of the next, or the row was not stored."
        ),
        next_step=(
            "Use `(rows >= offsets[i]) & (rows < offsets[i + 1])`: row `offsets[i]` "
            "belongs to expert i, and row `offsets[i + 1]` does not."
        ),
        expected_wrong=computes(wrong.neighbours_row),
        detector=dealing.leaves_rows_out(dealing.first_rows_cut, dealing.last_rows_cut),
    ),
    Misconception(
        code="empty-expert-chosen",
        title="Rows after an expert without rows use the wrong matrix",
        message=(
            "If an expert has no rows, `offsets` contains the same number twice. The "
            "search chose the wrong one of the two, or left out experts without rows when "
            "counting."
        ),
        next_step=(
            "The expert of a row is the *last* i with `offsets[i] <= row`: the number of "
            "ends `offsets[i + 1]` that are `<= row`."
        ),
        expected_wrong=computes(wrong.empty_chosen),
    ),
    Misconception(
        code="experts-summed",
        title="Rows contain the products with several experts, added up",
        message=(
            "A tile contains rows of several experts, and the kernel added the products "
            "with all of their matrices for all of its rows."
        ),
        next_step=(
            "For each expert load x with the mask `(rows >= start) & (rows < end)` and "
            "zeros elsewhere."
        ),
        expected_wrong=computes_with_block(wrong.experts_summed),
    ),
    Misconception(
        code="last-expert-overwrites",
        title="In a tile of several experts only the last one is stored",
        message=(
            "A tile contains rows of several experts. The kernel computes a product for "
            "each of them and keeps only the last one, so the rows of the others are 0."
        ),
        next_step=(
            "Add the products, `result += product`: each row is 0 in all of them except "
            "its own. Or store each product with the mask of its own rows."
        ),
        expected_wrong=computes_with_block(wrong.last_expert_of_tile),
    ),
    Misconception(
        code="group-start-forgotten",
        title="The rows of each expert are counted from row 0",
        message=(
            "The kernel loads or stores the rows of every expert as if they began at row "
            "0. They begin at `offsets[i]`, so only expert 0 is correct."
        ),
        next_step=(
            "Write `offs_m = start + tile_of_the_expert * BLOCK_M + tl.arange(0, BLOCK_M)`."
        ),
        expected_wrong=computes(wrong.group_start_forgotten),
        detector=_output_from_first_row,
    ),
)
