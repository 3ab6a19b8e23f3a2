"""The misconceptions about tiles of experts: how many there are, and where each of them begins."""

from __future__ import annotations

from graders.course.common.expected import computes
from graders.course.experts.mistakes import dealing, tile_order
from graders.course.experts.mistakes import wrong_results as wrong
from graders.judge.records import Misconception

OF_THE_TILES = (
    Misconception(
        code="columns-missing",
        places=True,
        title="The last columns were never stored",
        message=(
            "No program computes the last columns: `n // BLOCK_N` rounds down, or a fixed "
            "block covers too few columns."
        ),
        next_step=(
            "Round up with `triton.cdiv(n, BLOCK_N)`, and mask the columns with `offs_n < N`."
        ),
        detector=dealing.columns_missing,
    ),
    Misconception(
        code="equal-groups",
        title="The kernel assumes that all experts have equally many rows",
        message=(
            "t / e is only the mean. An expert with more rows lost the rest of them. Only "
            "the kernel can read the lengths in `offsets`."
        ),
        next_step=(
            "Load `offsets[i]` and `offsets[i + 1]` in the kernel. A grid of (experts, "
            "tiles) needs `triton.cdiv(t, BLOCK_M)` tiles for each expert, since one may "
            "have all rows."
        ),
        expected_wrong=computes(wrong.equal_groups),
        detector=dealing.leaves_rows_out(dealing.longest_cut),
    ),
    Misconception(
        code="group-tail-lost",
        places=True,
        title="The last rows of an expert are missing",
        message=(
            "The full tiles of each expert were stored, and the rows after them were not: "
            "`rows // BLOCK_M` rounds down and leaves out the tile that is not full."
        ),
        next_step="Round up for each expert: `tl.cdiv(end - start, BLOCK_M)`.",
        detector=dealing.leaves_rows_out(dealing.tails_cut),
    ),
    Misconception(
        code="empty-expert-ends",
        places=True,
        title="An expert without rows ends the search for tiles",
        message=(
            "The rows of all experts after one without rows were never stored. The loop "
            "over the experts ends where a group has no tile."
        ),
        next_step=(
            "Continue to the next expert until `expert == e`. An expert without rows has no tile."
        ),
        detector=dealing.leaves_rows_out(dealing.ended_by_empty),
    ),
    Misconception(
        code="empty-expert-counted",
        places=True,
        title="An expert without rows counts as one tile",
        message=(
            "An expert without rows has no tile, but the kernel counted one, so later "
            "tiles are missing."
        ),
        next_step=(
            "Use `tl.cdiv(rows, BLOCK_M)`, which is 0 for no rows, without a maximum "
            "with 1. Use the same counts to find the expert and the tiles before it."
        ),
        detector=dealing.leaves_rows_out(dealing.empty_searched, dealing.empty_counted),
    ),
    Misconception(
        code="last-expert-lost",
        places=True,
        title="One expert gets no tiles at all",
        message=(
            "All rows of the last expert (or of the first) were never stored. offsets has "
            "e + 1 numbers for e experts; a loop up to `e - 1`, or from 1, leaves one out."
        ),
        next_step=(
            "Loop over the experts 0 to e - 1, where e is `w.shape[0]`, which equals "
            "`offsets.shape[0] - 1`."
        ),
        detector=dealing.leaves_rows_out(dealing.last_expert_cut, dealing.first_expert_cut),
    ),
    Misconception(
        code="lengths-for-offsets",
        title="The offsets are used as numbers of rows",
        message=(
            "`offsets[i]` is where the rows of expert i begin, and `offsets[i + 1]` is "
            "where they end. Used as lengths, they give an expert too many tiles, or rows "
            "of others."
        ),
        next_step="Write `rows = offsets[i + 1] - offsets[i]`.",
        expected_wrong=computes(wrong.lengths_for_offsets),
        detector=dealing.leaves_rows_out(dealing.counted_by_ends, dealing.counted_by_starts),
    ),
    Misconception(
        code="tile-not-counted-from-expert",
        places=True,
        title="Tiles of an expert are counted from the first tile of the launch",
        message=(
            "Tile 5 of the launch may be the second tile of its expert. The kernel placed "
            "it as the sixth one, or at row 5 · BLOCK_M, so rows in between were never "
            "stored."
        ),
        next_step=(
            "Subtract the tiles of all earlier experts: `row = start + (tile - "
            "tiles_before) * BLOCK_M`."
        ),
        detector=dealing.leaves_rows_out(dealing.counted_from_launch, dealing.at_multiples),
    ),
    Misconception(
        code="boundary-tile-misplaced",
        places=True,
        title="One tile of each expert goes to a neighbouring expert",
        message=(
            "The kernel compared tile numbers with prefix sums by `<` in place of `<=`, or "
            "the other way round. So one tile of each expert went to a neighbour."
        ),
        next_step=(
            "If the experts up to i have 7 tiles, those are tiles 0 to 6. Count the "
            "prefix sums that are `<= tile`."
        ),
        detector=dealing.leaves_rows_out(
            dealing.given_to_expert_before, dealing.given_to_expert_behind
        ),
    ),
    Misconception(
        code="one-round",
        places=True,
        title="Each program computes only one tile",
        message=(
            "There are fewer programs than tiles, and each program computed just one. The "
            "other tiles are missing. With few tiles the mistake does not show."
        ),
        next_step=(
            "Put the work for a tile into a loop: `for tile in "
            "tl.range(tl.program_id(0), n_tiles, tl.num_programs(0))`. Or launch a "
            "program for each tile."
        ),
        detector=tile_order.one_round,
    ),
    Misconception(
        code="last-round-lost",
        places=True,
        title="The last, partial round of tiles is missing",
        message=(
            "The programs take tiles in rounds, and all full rounds were stored. The "
            "remaining tiles are missing: `n_tiles // programs` rounds down."
        ),
        next_step="Let the loop end at `n_tiles`: `tl.range(pid, n_tiles, programs)`.",
        detector=tile_order.last_round_missing,
    ),
    Misconception(
        code="grid-too-small",
        places=True,
        title="There was no program for the last tiles",
        message=(
            "The tiles of the last experts are missing: the grid has too few programs. "
            "Each expert may end in a tile that is not full, so `cdiv(t, BLOCK_M)` is not "
            "enough."
        ),
        next_step=(
            "Launch the largest possible number of tiles, `triton.cdiv(t, BLOCK_M) + e`. "
            "Programs without a tile return at once."
        ),
        detector=dealing.leaves_rows_out(dealing.too_few_programs),
    ),
)
