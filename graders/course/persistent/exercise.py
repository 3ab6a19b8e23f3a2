"""What counts as solved in the lesson on persistent kernels: few programs, many tiles."""

from __future__ import annotations

from dataclasses import replace

from graders.course.common import shared
from graders.course.matmul.exercise import (
    AXES,
    MATMUL,
    MATMUL_MISCONCEPTIONS,
    factors,
    first_factor_viewed,
    second_factor_viewed,
)
from graders.course.persistent.mistakes import DESCRIPTOR_MISTAKES, FEW_PROGRAMS, ROUND_MISTAKES
from graders.judge.cases.builders import HALVES, cases

# A program that leaves tiles out is looked at as such; with fewer programs than tiles the marks
# of a grid that is too small say nothing.
OF_A_TILE_EACH = frozenset({"offset-ignores-pid", "axis-ignores-pid", "tiles-lost"})

PERSISTENT_MATMUL = replace(
    MATMUL,
    name="persistent_matmul",
    lesson="persistent",
    title="A matrix product by programs that stay",
    cases=(
        *MATMUL.cases,
        *cases(
            factors,
            AXES,
            [(780, 8, 750), (34000, 8, 8)],
            why="More tiles than programs, and a last round that is not full.",
        ),
        *cases(
            factors,
            AXES,
            [(40, 48, 72), (56, 80, 40)],
            part="views",
            dtypes=HALVES,
            views=["sliced", "offset"],
            why="Rows that a descriptor can follow, if they start where it may.",
        ),
        *(
            made
            for own, also in ((first_factor_viewed, "a alone"), (second_factor_viewed, "b alone"))
            for made in cases(
                own,
                AXES,
                [(24, 20, 36)],
                part="views",
                dtypes=HALVES[:1],
                views=["far"],
                label=also,
                why="Its elements lie more than 2**31 elements apart.",
            )
        ),
        *cases(
            factors,
            AXES,
            [(40, 48, 72)],
            part="views",
            dtypes=HALVES,
            views=["padded"],
            why="Whole rows are multiples of 16 bytes long, and they do not start 16 bytes apart.",
        ),
    ),
    hints=(
        "In a kernel that computes one tile, find the number that selects the tile. Now let "
        "that number come from a loop. Which numbers must program 5 of 132 use?",
        "`tl.range(tl.program_id(0), n_tiles, tl.num_programs(0))` gives these numbers. "
        "Everything that belongs to one tile goes inside: its row and column, a new "
        "accumulator, the loop over K, the store.",
        "`row, col = tile_of(index, M, N, BLOCK_M, BLOCK_N, GROUP)`, `acc = "
        "tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)`. Over k: `load_tile(a, row, k, (M, "
        "K), a_strides, BLOCK_M, BLOCK_K, A_DESCRIBED)`, `load_tile(b, k, col, (K, N), "
        "b_strides, BLOCK_K, BLOCK_N, B_DESCRIBED)`, `tl.dot(…, acc, "
        'input_precision="ieee")`. Then `store_tile(c, row, col, (M, N), c_strides, acc, '
        "BLOCK_M, BLOCK_N, C_DESCRIBED)`. `can_describe` also refuses empty matrices and "
        "stride(0) < columns.",
    ),
    challenge="Zero the accumulator before the loop over tiles, and check: which cases still pass?",
    misconceptions=(
        shared.offset_in_32_bits(),
        *DESCRIPTOR_MISTAKES,
        *ROUND_MISTAKES,
        *(m for m in MATMUL_MISCONCEPTIONS if m.code not in OF_A_TILE_EACH),
    ),
    requirements=(FEW_PROGRAMS,),
)

EXERCISES = (PERSISTENT_MATMUL,)
