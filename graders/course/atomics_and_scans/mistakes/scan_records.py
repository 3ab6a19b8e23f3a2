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
        title="A program reads what another program has yet to store",
        message=(
            "The blocks of a row are taken by different programs, and each loads what the one "
            "before it should have stored. But programs start in any order and run at the same "
            "time: what is not stored yet is read as rubbish. (An atomic sum has what those have "
            "added that came first, and they need not be those that stand before.)"
        ),
        next_step=(
            "Let one program walk through the whole row and keep the carry in a variable; or store "
            "the sums of the blocks, and add them in a second launch."
        ),
        expected_wrong=walks_through_blocks(later_blocks_carried),
        faults=RACES | {"uninitialised-read"},
    ),
    Misconception(
        code="carry-forgotten",
        title="Each block starts from 0 again",
        message=(
            "Within a block the sums are right, but what stood in the blocks before is missing. "
            "A row that fits into one block does not show it."
        ),
        next_step=(
            "Keep the sum of all blocks so far in a variable, add it to the scan of each block, "
            "and add the sum of the block to it afterwards."
        ),
        expected_wrong=walks_through_blocks(carry_forgotten),
    ),
    Misconception(
        code="last-block-carried",
        title="Only the block before is carried on",
        message=(
            "The carry is *replaced* by the sum (or the last element) of a block, where it should "
            "grow by it. The second block is right, and from the third on everything before the "
            "neighbour is missing."
        ),
        next_step="`carried += tl.sum(x, axis=0)`, and not `carried = ...`.",
        expected_wrong=walks_through_blocks(last_block_carried),
    ),
    Misconception(
        code="carry-counted-twice",
        title="What was carried is added once more",
        message=(
            "A block's last running sum has the carry in it already. Added to the carry, it "
            "counts all earlier blocks twice, then four times. (Or the sum that is carried into a "
            "block has that block's own sum in it.)"
        ),
        next_step=(
            "Either `carried += tl.sum(x, axis=0)`, the block alone, or replace the carry by the "
            "last running sum; not both."
        ),
        expected_wrong=walks_through_blocks(carry_doubled, own_block_carried),
    ),
    Misconception(
        code="last-element-carried",
        title="The last element of a block is carried on, not its sum",
        message=(
            "What the next block needs is the sum of all elements before it. The last *element* "
            "of the input is one of them; the last element of the *scan* is their sum."
        ),
        next_step="`carried += tl.sum(x, axis=0)`.",
        expected_wrong=walks_through_blocks(last_elements_carried),
    ),
    Misconception(
        code="exclusive-scan",
        title="An element is missing from its own sum",
        message=(
            "This is the *exclusive* scan: element j is the sum of those before it, and the first "
            "one is 0. Asked for is the inclusive one, which has the element itself in it."
        ),
        next_step="Store what `tl.associative_scan` gives, without taking x away or moving it on.",
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
        message="Each element holds the sum of what stands *above* it: the scan has another axis.",
        next_step="With a tile of rows scan along `axis=1`; a program takes a row.",
        expected_wrong=computes(down_columns) + computes_with_block(down_tiles),
    ),
    Misconception(
        code="carry-kept-between-rows",
        title="The sum goes on from row to row",
        message=(
            "The first row is right; the next one starts from the sum of the rows before it. The "
            "carry is set to 0 once, and not for each row, or the matrix is scanned as one line."
        ),
        next_step="Set the carry to 0.0 inside the loop over rows, before the loop over blocks.",
        expected_wrong=computes(rows_run_on) + computes_with_block(rows_run_on_in_groups),
    ),
    Misconception(
        code="sum-everywhere",
        title="There is one sum, and no running sums",
        message=(
            "All places of a row (or of a block) hold the same number. `tl.sum` turns a block into "
            "one number; a scan gives as many as it gets."
        ),
        next_step="`tl.associative_scan(x, axis=0, combine_fn=add)`, or `tl.cumsum(x, axis=0)`.",
        expected_wrong=computes(everywhere) + walks_through_blocks(everywhere_in_blocks),
    ),
    Misconception(
        code="scan-missing",
        title="The block itself is not scanned",
        message="What came before a block is added to its elements, but they are not summed up.",
        next_step="Scan the block first, `tl.associative_scan(...)`, and add the carry to that.",
        expected_wrong=computes(not_summed) + walks_through_blocks(not_summed_in_blocks),
    ),
    Misconception(
        code="another-scan",
        title="This is another scan",
        message=(
            "The scan goes along the row, but it combines by another rule: a product, a maximum or "
            "a minimum, or a sum of absolute values or squares."
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
        title="The first element of a row is in no sum",
        message="Every sum of a row is too small by the row's first element.",
        next_step="Columns count from 0, and so does `range(0, n_cols, BLOCK_SIZE)`.",
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
            "The sums are nearly right, and the further along the row the worse they get: the "
            "scan, or the carry, is rounded to the 11 bits of float16 (8 of bfloat16) at each "
            "step. What `tl.load` brings has the dtype of x, and so has its scan."
        ),
        next_step=(
            "`tl.load(...).to(tl.float32)` before the scan, the carry in float32, and one "
            "conversion at the store."
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
            "The first columns are right, as many as there are rows (to the end of that block), "
            "and what lies behind them was never stored. A row ends after `n_cols` elements. "
            "Square matrices hide it."
        ),
        next_step="`range(0, n_cols, BLOCK_SIZE)`: the width, which is `x.shape[1]`.",
        detector=ends_at_number_of_rows,
        rules_out=frozenset({"grid-too-small", "mask-too-narrow"}),
    ),
    shared.axis_ignores_pid(),
    shared.tiles_missing("n_rows", "n_cols"),
    shared.offset_ignores_pid(),
)
