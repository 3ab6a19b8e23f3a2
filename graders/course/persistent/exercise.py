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
        "Take a kernel that computes one tile and look for what tells it which. If that number "
        "came from a loop, which numbers would program 5 of 132 have to go through?",
        "`tl.range(tl.program_id(0), n_tiles, tl.num_programs(0))` goes through them. All that "
        "belongs to one tile stands inside: its row and column, a new accumulator, the loop over "
        "K, the store.",
        "In the loop: `row, col = tile_of(index, M, N, BLOCK_M, BLOCK_N, GROUP)`, `accumulator = "
        "tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)`, then over k `load_tile(a, row, k, (M, "
        "K), a_strides, BLOCK_M, BLOCK_K, A_DESCRIBED)` and the same for b; `store_tile` behind "
        "the inner loop.",
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
        "200 tiles, 132 programs, each with `tl.range(pid, 200, 132)`. How many tiles does program "
        "70 compute?",
        (
            Choice(
                "Two: 70 and 202.",
                "Tile 202 does not exist: the loop ends before 200.",
            ),
            Choice(
                "One: 70.",
                "Yes. Programs 0 to 67 have two tiles, the others one: the second round is not "
                "full.",
                right=True,
            ),
            Choice(
                "200 / 132, so one and a half.",
                "A tile is computed by one program. Some have two and others one.",
            ),
        ),
    ),
    Question(
        "Why is the grid of a persistent kernel not larger than the number of multiprocessors?",
        (
            Choice(
                "A larger grid is refused.",
                "A grid may have millions of programs; they wait for their turn.",
            ),
            Choice(
                "Because programs beyond that wait for a place, and start anew what a loop would "
                "carry on.",
                "Yes. With large tiles one program fills a multiprocessor, so more cannot run "
                "at once.",
                right=True,
            ),
            Choice(
                "Because each program needs a descriptor of its own.",
                "One descriptor serves all of them. It is made before the launch.",
            ),
        ),
    ),
    Question(
        "Which of these matrices, fp16 and starting at an address that is a multiple of 16, can a "
        "descriptor follow?",
        (
            Choice(
                "A contiguous one with 100 columns.",
                "Its rows are 200 bytes apart, which is no multiple of 16.",
            ),
            Choice(
                "The transpose of one with 128 columns.",
                "Its last axis has stride 128. Describe the matrix itself, and transpose the tile.",
            ),
            Choice(
                "The left 100 columns of one with 128.",
                "Yes: its rows are 256 bytes apart and its columns neighbours. That it has 100 "
                "columns is written in the descriptor, and the rest is read as 0.",
                right=True,
            ),
        ),
    ),
    Question(
        "Where does the mask stand when a tile is loaded through a descriptor?",
        (
            Choice(
                "In `load`, as with pointers.",
                "`load` takes the place of the tile and nothing else.",
            ),
            Choice(
                "Nowhere: the descriptor knows the shape, and what lies outside is 0.",
                "Yes, and what would be stored outside is left out.",
                right=True,
            ),
            Choice(
                "It must be applied afterwards, with tl.where.",
                "That would change nothing: the zeros are there already.",
            ),
        ),
    ),
    Question(
        "Every program of a kernel zeroes its accumulator once, before the loop over tiles. Which "
        "tiles are right?",
        (
            Choice(
                "All of them.",
                "The second tile of a program begins with the sums of its first one.",
            ),
            Choice(
                "The first tile of each program.",
                "Yes. So with fewer tiles than multiprocessors no test notices.",
                right=True,
            ),
            Choice("None.", "In the first round the accumulator is zero, as it should be."),
        ),
    ),
)
