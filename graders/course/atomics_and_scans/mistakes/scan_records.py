"""The misconceptions about running sums, the special ones first."""

from __future__ import annotations

from dataclasses import replace

from graders.course.atomics_and_scans.mistakes.wrong_scans import (
    averaged,
    backwards,
    backwards_in_blocks,
    carry_doubled,
    carry_forgotten,
    down_columns,
    down_tiles,
    ends_at_number_of_rows,
    everywhere,
    everywhere_in_blocks,
    last_block_carried,
    last_elements_carried,
    later_blocks_carried,
    left_out_first,
    not_summed,
    not_summed_in_blocks,
    other_scans,
    own_block_carried,
    rows_run_on,
    rows_run_on_in_groups,
    without_own,
)
from graders.course.atomics_and_scans.reference import cumsum, cumsum_magnitude
from graders.course.common import rounding, shared, strides
from graders.course.common.detectors import RACES
from graders.course.common.expected import computes, computes_with_block, walks_through_blocks
from graders.judge.records import Misconception

MISTAKES = (
    Misconception(
        code="carry-from-neighbour",
        title="A program reads what another program may not have stored yet",
        message=(
            "Different programs take the blocks of a row, and each loads the result of the "
            "one before it. But programs start in any order, so that result may be missing."
        ),
        next_step=(
            "Let one program loop over the whole row and keep the carry in a variable. "
            "Or store the sums of the blocks, and add them in a second launch."
        ),
        expected_wrong=walks_through_blocks(later_blocks_carried),
        faults=RACES | {"uninitialised-read"},
    ),
    Misconception(
        code="carry-forgotten",
        title="Each block starts from 0 again",
        message=(
            "Within a block the sums are correct, but the sum of the earlier blocks is "
            "missing. A row that fits into one block does not show it."
        ),
        next_step=(
            "Keep the sum of all earlier blocks in a variable. Add it to the scan of "
            "each block, and then add the sum of the block to it."
        ),
        expected_wrong=walks_through_blocks(carry_forgotten, unless=RACES),
    ),
    Misconception(
        code="last-block-carried",
        title="Only the previous block is carried",
        message=(
            "The kernel *replaces* the carry by the sum (or the last element) of a block; "
            "the carry should grow by it. The second block is correct, and errors begin at "
            "the third."
        ),
        next_step="Write `carried += tl.sum(x, axis=0)`, not `carried = ...`.",
        expected_wrong=walks_through_blocks(last_block_carried),
    ),
    Misconception(
        code="carry-counted-twice",
        title="The carry is added twice",
        message=(
            "The last running sum of a block already contains the carry. Added to the "
            "carry, it counts all earlier blocks twice, then four times."
        ),
        next_step=(
            "Either add the sum of the block alone, `carried += tl.sum(x, axis=0)`, or "
            "replace the carry by the last running sum. Update it after the block."
        ),
        expected_wrong=walks_through_blocks(carry_doubled, own_block_carried),
    ),
    Misconception(
        code="last-element-carried",
        title="The last element of a block is carried, not its sum",
        message=(
            "The next block needs the sum of all elements before it. The last element of "
            "the *input* is only one of them; the last element of the *scan* is their sum."
        ),
        next_step="Write `carried += tl.sum(x, axis=0)`.",
        expected_wrong=walks_through_blocks(last_elements_carried),
    ),
    Misconception(
        code="exclusive-scan",
        title="An element is missing from its own sum",
        message=(
            "This is the *exclusive* scan: element j is the sum of the elements before it, "
            "and the first one is 0. The exercise asks for the inclusive scan, which "
            "contains the element itself."
        ),
        next_step=(
            "Store the result of `tl.associative_scan` without subtracting x or shifting it."
        ),
        expected_wrong=computes(without_own),
    ),
    Misconception(
        code="scanned-backwards",
        title="The sums run from the end of the row",
        message="Element j is the sum from j to the end: a scan with `reverse=True`.",
        next_step="Scan forwards: leave `reverse` out.",
        expected_wrong=computes(backwards) + walks_through_blocks(backwards_in_blocks),
    ),
    Misconception(
        code="columns-summed",
        title="The sums run down the columns",
        message=(
            "Each element contains the sum of the elements *above* it: the scan runs along "
            "the other axis."
        ),
        next_step="A program takes a row. If it takes a tile of rows, scan along `axis=1`.",
        expected_wrong=computes(down_columns) + computes_with_block(down_tiles),
    ),
    Misconception(
        code="carry-kept-between-rows",
        title="The sum continues from row to row",
        message=(
            "The first row is correct; the next one starts from the sum of the earlier "
            "rows. The kernel sets the carry to 0 once, not for each row, or scans the "
            "matrix as one line."
        ),
        next_step="Set the carry to 0.0 inside the loop over rows, before the loop over blocks.",
        expected_wrong=computes(rows_run_on) + computes_with_block(rows_run_on_in_groups),
    ),
    Misconception(
        code="sum-everywhere",
        title="All elements hold the total sum",
        message=(
            "All elements of a row (or of a block) hold the same number. `tl.sum` reduces "
            "a block to one number; a scan returns as many as it gets."
        ),
        next_step=(
            "Use `tl.associative_scan(x, axis=0, combine_fn=add)`, or `tl.cumsum(x, axis=0)`."
        ),
        expected_wrong=computes(everywhere) + walks_through_blocks(everywhere_in_blocks),
    ),
    Misconception(
        code="scan-missing",
        title="The block itself is not scanned",
        message=(
            "The kernel adds the carry to the elements of a block, but does not scan the "
            "block itself."
        ),
        next_step=(
            "Scan the block first with `tl.associative_scan(...)`, and add the carry to the result."
        ),
        expected_wrong=computes(not_summed) + walks_through_blocks(not_summed_in_blocks),
    ),
    Misconception(
        code="another-scan",
        title="The scan combines with another operation",
        message=(
            "The scan runs along the row, but it does not add: it computes a product, a "
            "maximum or a minimum, or a sum of absolute values or squares."
        ),
        next_step="The combine function of a running sum returns `left + right`.",
        expected_wrong=computes(other_scans),
    ),
    Misconception(
        code="averaged",
        title="These are running means",
        message="Each sum is divided by the number of its terms.",
        next_step="Leave the division out.",
        expected_wrong=computes(averaged),
    ),
    Misconception(
        code="first-element-left-out",
        title="The first element of a row is missing from every sum",
        message="Every sum of a row is too small by the row's first element.",
        next_step="Columns count from 0: write `range(0, n_cols, BLOCK_SIZE)`.",
        expected_wrong=computes(left_out_first),
    ),
    strides.output_strides_of_input(cumsum),
    strides.column_stride_ignored(cumsum),
    shared.contiguous_assumed(cumsum),
    replace(
        rounding.computes_in_half(cumsum_magnitude),
        code="accumulates-in-half",
        title="The sum is kept in half precision",
        message=(
            "The errors grow along the row: the kernel rounds the scan, or the carry, to "
            "the 11 bits of float16 (8 of bfloat16) at each step. `tl.load` returns the "
            "dtype of x, and a scan keeps it."
        ),
        next_step=(
            "Load with `tl.load(...).to(tl.float32)`, keep the carry in float32, and "
            "convert once, at the store."
        ),
    ),
    rounding.lossy_dtype(cumsum),
    shared.programs_by_column(),
    shared.missing_mask("a row", "n_cols"),
    Misconception(
        code="bound-of-other-axis",
        places=True,
        title="The loop along a row ends at the number of rows",
        message=(
            "The first columns are correct, as many as there are rows; the columns after "
            "that block were never stored. A row has `n_cols` elements. Square matrices "
            "hide the mistake."
        ),
        next_step="Write `range(0, n_cols, BLOCK_SIZE)` with the width, `x.shape[1]`.",
        detector=ends_at_number_of_rows,
        rules_out=frozenset({"grid-too-small", "mask-too-narrow"}),
    ),
    shared.axis_ignores_pid(),
    shared.tiles_missing("n_rows", "n_cols"),
    shared.offset_ignores_pid(),
)
