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
            "All rows are there, and they end too early: no program gets to the last columns. "
            "`n // BLOCK_N` rounds down, or a fixed block covers only so many."
        ),
        next_step="Round up, `triton.cdiv(n, BLOCK_N)`, and mask the columns with `offs_n < N`.",
        detector=dealing.columns_missing,
    ),
    Misconception(
        code="equal-groups",
        title="All experts are taken to have equally many rows",
        message=(
            "The launcher knows t and e, and t / e is only the mean. An expert with more rows than "
            "that lost the rest of them, or its rows were given to the next expert. How many rows "
            "each one has stands in `offsets`, and only the kernel can read that."
        ),
        next_step=(
            "Load `offsets[i]` and `offsets[i + 1]` in the kernel. A grid of (experts, tiles) "
            "needs `triton.cdiv(t, BLOCK_M)` tiles for each: one expert may have all rows."
        ),
        expected_wrong=computes(wrong.equal_groups),
        detector=dealing.leaves_rows_out(dealing.longest_cut),
    ),
    Misconception(
        code="group-tail-lost",
        places=True,
        title="The last rows of an expert are lost",
        message=(
            "The full tiles of each expert are there, and the rows behind them were never stored: "
            "`rows // BLOCK_M` rounds down and forgets the tile that is not full. Here each expert "
            "has one of those, and not just the whole."
        ),
        next_step="Round up for each expert: `tl.cdiv(end - start, BLOCK_M)`.",
        detector=dealing.leaves_rows_out(dealing.tails_cut),
    ),
    Misconception(
        code="empty-expert-ends",
        places=True,
        title="An expert without rows ends the search for tiles",
        message=(
            "The rows of all experts behind one without rows were never stored. Such an expert was "
            "taken for the end of the list: a loop ends where a group has no tile, or where two "
            "neighbours in offsets are equal."
        ),
        next_step="Go on to the next expert until `expert == e`; one without rows has no tile.",
        detector=dealing.leaves_rows_out(dealing.ended_by_empty),
    ),
    Misconception(
        code="empty-expert-counted",
        places=True,
        title="An expert without rows is counted as one tile",
        message=(
            "An expert without rows has no tile. Here it was counted as one, at least in some "
            "place, and tiles behind it are missing: either there were no programs left for them, "
            "or the search for the expert and the count of tiles before it do not agree."
        ),
        next_step=(
            "`tl.cdiv(0, BLOCK_M)` is 0: no maximum with 1, and the same numbers of tiles for both "
            "questions."
        ),
        detector=dealing.leaves_rows_out(dealing.empty_searched, dealing.empty_counted),
    ),
    Misconception(
        code="last-expert-lost",
        places=True,
        title="One expert gets no tiles at all",
        message=(
            "All rows of the last expert (or of the first) were never stored. offsets has e + 1 "
            "numbers, and there are e experts: a loop to `e - 1`, or one that begins at 1, leaves "
            "one of them out."
        ),
        next_step="Experts 0 to e - 1, with e = `w.shape[0]` = `offsets.shape[0] - 1`.",
        detector=dealing.leaves_rows_out(dealing.last_expert_cut, dealing.first_expert_cut),
    ),
    Misconception(
        code="lengths-for-offsets",
        title="The offsets are taken for numbers of rows",
        message=(
            "`offsets[i]` is not how many rows expert i has. It says where they begin, and "
            "`offsets[i + 1]` where they end. Taken for lengths, they give an expert too many "
            "tiles, or rows that belong to others."
        ),
        next_step="`rows = offsets[i + 1] - offsets[i]`.",
        expected_wrong=computes(wrong.lengths_for_offsets),
        detector=dealing.leaves_rows_out(dealing.counted_by_ends, dealing.counted_by_starts),
    ),
    Misconception(
        code="tile-not-counted-from-expert",
        places=True,
        title="Tiles of an expert are counted from the first tile of the launch",
        message=(
            "Tile number 5 of the launch may be the second one of its expert, and it was placed as "
            "if it were that expert's sixth, or at row 5 · BLOCK_M. So rows in between were never "
            "stored."
        ),
        next_step=(
            "Subtract the tiles of all experts before: `row = start + (tile - tiles_before) * "
            "BLOCK_M`."
        ),
        detector=dealing.leaves_rows_out(dealing.counted_from_launch, dealing.at_multiples),
    ),
    Misconception(
        code="boundary-tile-misplaced",
        places=True,
        title="One tile of each expert goes to its neighbour, and is lost",
        message=(
            "Tile numbers and numbers of tiles were compared with `<` where `<=` belongs, or the "
            "other way round. So the first tile of each expert went to the expert before, or the "
            "last one to the expert behind, where there are no rows for it."
        ),
        next_step=(
            "If the experts up to i have 7 tiles, those are tiles 0 to 6. Tile 7 belongs behind: "
            "count how many of the sums are `<= tile`."
        ),
        detector=dealing.leaves_rows_out(
            dealing.given_to_expert_before, dealing.given_to_expert_behind
        ),
    ),
    Misconception(
        code="one-round",
        places=True,
        title="Each program computes one tile and ends",
        message=(
            "There are fewer programs than tiles, and each program computed just one. Nobody came "
            "for the rest. With few tiles it does not show."
        ),
        next_step=(
            "Put the work for a tile into a loop: `for tile in tl.range(tl.program_id(0), n_tiles, "
            "tl.num_programs(0))`. Or launch a program for each."
        ),
        detector=tile_order.one_round,
    ),
    Misconception(
        code="last-round-lost",
        places=True,
        title="The last round, which is not full, is lost",
        message=(
            "The programs take tiles round after round, and the full rounds are there. The tiles "
            "that are left in the end, fewer than programs, are missing: `n_tiles // programs` "
            "rounds down."
        ),
        next_step="Let the loop end at `n_tiles`: `tl.range(pid, n_tiles, programs)`.",
        detector=tile_order.last_round_missing,
    ),
    Misconception(
        code="grid-too-small",
        places=True,
        title="There was no program for the last tiles",
        message=(
            "The first tiles are there, those of the last experts are missing: the grid has too "
            "few programs. `cdiv(t, BLOCK_M)` would do if the rows belonged together. But each "
            "expert may end in a tile that is not full, so that there may be up to e tiles more."
        ),
        next_step=(
            "The launcher cannot count the tiles, because it cannot read offsets. It can take the "
            "most there can be: `triton.cdiv(t, BLOCK_M) + e`. Programs without a tile end at once."
        ),
        detector=dealing.leaves_rows_out(dealing.too_few_programs),
    ),
)
