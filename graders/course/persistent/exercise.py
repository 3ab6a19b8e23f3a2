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
from graders.judge.records import Choice, Question

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
    promises=(FEW_PROGRAMS,),
)

EXERCISES = (PERSISTENT_MATMUL,)

QUIZ = (
    Question(
        (
            "There are 200 tiles and 132 programs, each with `for tile in tl.range(pid, 200, "
            "132)`. How many tiles does program 70 compute?"
        ),
        (
            Choice(
                "Two: 70 and 202.",
                "Tile 202 does not exist: the loop ends before 200.",
            ),
            Choice(
                "One: 70.",
                (
                    "Yes. Programs 0 to 67 compute two tiles, the others one: the second round is "
                    "not full."
                ),
                right=True,
            ),
            Choice(
                "One and a half, 200 / 132.",
                ("One program computes a whole tile. Some programs have two tiles and others one."),
            ),
            Choice(
                "Two: 70 and 71.",
                "The step of the loop is 132, so tile 71 belongs to program 71.",
            ),
        ),
    ),
    Question(
        "Why is the grid of this kernel not larger than the number of multiprocessors?",
        (
            Choice(
                "A larger grid is refused.",
                "A grid may have millions of programs; they wait for their turn.",
            ),
            Choice(
                "Further programs would only wait for a free SM.",
                (
                    "Yes. With large tiles one program fills an SM, and a waiting program starts "
                    "from the beginning."
                ),
                right=True,
            ),
            Choice(
                "Each program needs its own descriptor.",
                "All programs share one descriptor. The launcher makes it before the launch.",
            ),
            Choice(
                "More programs would load more bytes in all.",
                "Each tile needs the same loads, whichever program computes it.",
            ),
        ),
    ),
    Question(
        (
            "Which of these matrices, fp16 and starting at an address that is a multiple of 16, "
            "can a descriptor describe?"
        ),
        (
            Choice(
                "A contiguous one with 100 columns.",
                "Its rows are 200 bytes apart, which is not a multiple of 16.",
            ),
            Choice(
                "The transpose of one with 128 columns.",
                (
                    "Its last axis has stride 128. Describe the matrix itself, and transpose the "
                    "tile."
                ),
            ),
            Choice(
                "The left 100 columns of one with 128.",
                (
                    "Yes: its rows are 256 bytes apart, and its last axis has stride 1. The "
                    "descriptor holds the width 100."
                ),
                right=True,
            ),
            Choice(
                "Every second column of one with 128 columns.",
                "Its last axis has stride 2.",
            ),
        ),
    ),
    Question(
        "x is (100, 100), the tile 64×64. What does `x_desc.load([64, 0])` return?",
        (
            Choice(
                "An error, because rows 100 to 127 do not exist.",
                "A descriptor checks the edges itself, without an error.",
            ),
            Choice(
                "36 rows of x, and 28 rows of zeros.",
                "Yes: elements outside the matrix load as 0, and stores outside are dropped.",
                right=True,
            ),
            Choice(
                "Rows 36 to 99, moved so that the tile fits.",
                "The tile starts where you say, at row 64.",
            ),
            Choice(
                "36 rows of x, and whatever memory holds after it.",
                "The descriptor knows the shape of x.",
            ),
        ),
    ),
    Question(
        (
            "A kernel has these lines: `acc = tl.zeros(…)`, then `for tile in tl.range(pid, "
            "n_tiles, programs):`, and inside the loop over k and the store. Which tiles are "
            "correct?"
        ),
        (
            Choice(
                "All of them.",
                "The second tile of a program starts with the sums of its first one.",
            ),
            Choice(
                "The first tile of each program.",
                "Yes. So with fewer tiles than programs no test shows the mistake.",
                right=True,
            ),
            Choice(
                "None of them.",
                "In the first round the accumulator is zero, as it should be.",
            ),
            Choice(
                "The last tile of each program, which is stored last.",
                "Its accumulator holds the sums of all tiles of this program.",
            ),
        ),
    ),
)
