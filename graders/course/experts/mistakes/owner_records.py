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
        title="A tile takes one expert for rows of two",
        message=(
            "The rows were cut into tiles without regard to the experts, so some tiles lie across "
            "two of them (or more). All rows of such a tile were multiplied by the matrix of one "
            "expert, that of its first row or of its last. Where every group ends at a multiple of "
            "BLOCK_M it does not show."
        ),
        next_step=(
            "Let each expert have tiles of its own: the first begins at `offsets[i]`, and the last "
            "one ends at `offsets[i + 1]`, full or not."
        ),
        expected_wrong=computes_with_block(wrong.of_block_start),
    ),
    Misconception(
        code="expert-always-first",
        title="Every row meets the matrix of expert 0",
        message=(
            "The result is x @ w[0] throughout: nothing in the address of w depends on the expert. "
            "Each expert's matrix begins `w.stride(0)` elements behind the one before it."
        ),
        next_step="`w_ptr += expert.to(tl.int64) * stride_we`, before the loop over k.",
        expected_wrong=computes(wrong.first_expert),
    ),
    Misconception(
        code="expert-stride-wrong",
        title="The matrices of w are taken to begin closer together",
        message=(
            "Expert 0 is right and the others are not. The address of an expert's matrix is its "
            "number times another stride than that of the first axis of w: a row's length, k, n "
            "or 1. A matrix has k · n elements; but even k · n is the stride only where w lies "
            "densely in memory, and not in a view."
        ),
        next_step="`w_ptr + expert * w.stride(0)`: three axes, three strides.",
        expected_wrong=computes_from_memory(wrong.other_expert_stride),
    ),
    Misconception(
        code="expert-off-by-one",
        title="Rows meet the matrix of the neighbouring expert",
        message=(
            "Each row is multiplied by the matrix of the expert behind its own, or before it. The "
            "number of the expert came out one too large or too small. Behind the last expert "
            "there is no matrix, and the kernel reads what is not yours."
        ),
        next_step=(
            "Expert i has the rows from `offsets[i]` on, up to `offsets[i + 1]`. Of tiles counted "
            "up to and with each expert, those that are `<= tile` all come before."
        ),
        expected_wrong=computes(wrong.next_expert),
        detector=_reads_behind_last_expert,
    ),
    Misconception(
        code="boundary-row-misplaced",
        title="One row at the edge of a group goes to the wrong expert",
        message=(
            "The first row of each expert was multiplied by the matrix of the expert before, or "
            "the last row by that of the next; or nobody stored that row. Row `offsets[i]` belongs "
            "to expert i, and row `offsets[i + 1]` no longer does."
        ),
        next_step="`(rows >= offsets[i]) & (rows < offsets[i + 1])`: only one of them with `=`.",
        expected_wrong=computes(wrong.neighbours_row),
        detector=dealing.leaves_rows_out(dealing.first_rows_cut, dealing.last_rows_cut),
    ),
    Misconception(
        code="empty-expert-chosen",
        title="Rows behind an expert without rows meet the wrong matrix",
        message=(
            "Where an expert has no rows, `offsets` holds the same number twice. The search ended "
            "at the wrong one of the two, or skipped experts without rows and counted only the "
            "others, so the rows that follow meet a matrix that is not theirs."
        ),
        next_step=(
            "The expert of a row is the *last* i with `offsets[i] <= row`: as many as there are "
            "ends `offsets[i + 1] <= row`."
        ),
        expected_wrong=computes(wrong.empty_chosen),
    ),
    Misconception(
        code="experts-summed",
        title="Rows meet the matrices of several experts, added up",
        message=(
            "Where a tile lies across several experts, the products with all of their matrices "
            "were added for all of its rows. Each row may only count in the product with its own "
            "expert."
        ),
        next_step=(
            "For each expert let only its rows enter: load x with the mask `(rows >= start) & "
            "(rows < end)` and zeros elsewhere."
        ),
        expected_wrong=computes_with_block(wrong.experts_summed),
    ),
    Misconception(
        code="last-expert-overwrites",
        title="In a tile of several experts only the last one is stored",
        message=(
            "A tile lies across several experts, and for each of them the kernel computes a "
            "product in which the rows of the others are 0. The last product took the place of "
            "those before, so the rows of all experts but the last one of a tile are 0."
        ),
        next_step=(
            "Add the products up, `result += product`: each row is 0 in all of them but its own. "
            "Or store each with the mask of its own rows."
        ),
        expected_wrong=computes_with_block(wrong.last_expert_of_tile),
    ),
    Misconception(
        code="group-start-forgotten",
        title="The rows of each expert are counted from row 0",
        message=(
            "The rows of every expert were loaded, or stored, as if they began at the first row. "
            "Its own begin at `offsets[i]`. Only expert 0 is right, and where rows are stored so, "
            "experts overwrite each other's."
        ),
        next_step="`offs_m = start + tile_of_the_expert * BLOCK_M + tl.arange(0, BLOCK_M)`.",
        expected_wrong=computes(wrong.group_start_forgotten),
        detector=_output_from_first_row,
    ),
)
