"""What counts as solved in the lesson on what lies below Triton: wide loads, no spills."""

from __future__ import annotations

from graders.course.below_triton.mistakes.in_ptx import WIDE_LOADS, no_spills
from graders.course.below_triton.mistakes.records import MISTAKES
from graders.course.below_triton.reference import scale_rows
from graders.judge.cases.builders import HALVES, cases
from graders.judge.records import Arg, Choice, Exercise, Question, TensorSpec

AXES = "m n"
KNOWN = "A row is a multiple of 16 elements: Triton knows it."
UNTOLD = "A row is a multiple of 16 bytes, and not of 16 elements: who says so to the compiler?"


def matrix_and_scales(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
    """Return x (m, n) of that kind and s (m,), contiguous."""
    dense = {**spec, "view": "contiguous"}
    return TensorSpec(shape, **spec), TensorSpec(shape[:1], **dense)  # type: ignore[arg-type]


SCALE_ROWS = Exercise(
    name="scale_rows",
    lesson="below_triton",
    title="Rows scaled by wide loads",
    parameters=("x", "s"),
    reference=scale_rows,
    traffic_factor=1.5,
    cases=(
        *cases(matrix_and_scales, AXES, [(64, 64), (7, 1024), (20, 512)], why=KNOWN),
        *cases(matrix_and_scales, AXES, [(37, 53), (90, 20), (21, 90), (5, 4100)]),
        *cases(
            matrix_and_scales,
            AXES,
            [(150, 301), (1300, 250)],
            why="Many tiles, whatever their size.",
        ),
        *cases(matrix_and_scales, AXES, [(33, 40)], engine_orders=True),
        *cases(matrix_and_scales, AXES, [(7, 20), (9, 4), (3, 1100)], why=UNTOLD),
        *cases(matrix_and_scales, AXES, [(1, 1), (1, 700), (700, 1), (15, 17)], part="edges"),
        *cases(matrix_and_scales, AXES, [(31, 33), (65, 63), (0, 5), (5, 0)], part="edges"),
        *cases(
            matrix_and_scales,
            AXES,
            [(2, 9001), (1100, 2), (1, 32_768)],
            part="edges",
            why="Long, thin.",
        ),
        *cases(matrix_and_scales, AXES, [(12, 2048), (33, 64)], part="types", dtypes=HALVES),
        *cases(matrix_and_scales, AXES, [(7, 24), (40, 51)], part="types", dtypes=HALVES),
        *cases(matrix_and_scales, AXES, [(24, 31)], part="types", scale=1e15),
        *cases(matrix_and_scales, AXES, [(24, 31)], part="types", fills=["specials"]),
        *cases(
            matrix_and_scales,
            AXES,
            [(24, 36), (16, 64)],
            part="types",
            views=["offset"],
            why="It starts in the middle of a vector: no load may be taken to be aligned.",
        ),
    ),
    large=cases(matrix_and_scales, AXES, [(2053, 1531)], part="edges", why="Many tiles."),
    hints=(
        "Look at the loads with show_ptx for a row of 64 and for one of 20, both in float32. Which "
        "of the three things (neighbours, alignment, one mask for all) does the compiler not know "
        "of 20? And does each thread have 16 bytes of the block?",
        "In the kernel `n_cols // VECTOR * VECTOR` is n_cols again, and visibly a multiple; use it "
        "for the offsets and for the mask. The launcher works VECTOR out: how many elements 16 "
        "bytes hold, where a row is whole vectors long, else 1.",
        "`offsets = rows[:, None] * n_cols + cols[None, :]`, `s = tl.load(s_ptr + rows, mask=rows "
        "< n_rows)`, `x * s[:, None]`. Launcher: `block_n = "
        "min(triton.next_power_of_2(max(n_cols, 1)), 2048)`, `block_m = 2048 // block_n`, and "
        "`vector = 16 // x.element_size()`, or 1 where `n_cols % vector`.",
    ),
    challenge=(
        "Write `cols <= n_cols - 1` for `cols < n_cols` and check again: the values stay right. "
        "What does the PTX say?"
    ),
    misconceptions=MISTAKES,
    compiler_promises=(*WIDE_LOADS, no_spills()),
    parts={"core": 4, "edges": 2, "types": 4},
)

EXERCISES = (SCALE_ROWS,)
QUIZ = (
    Question(
        "What does `ld.global.v4.b32` do?",
        (
            Choice(
                "It loads four values of 32 bits for one thread.",
                "Yes: 128 bits, by one instruction, into four registers.",
                right=True,
            ),
            Choice(
                "It loads one value of 32 bits for each of four threads.",
                "PTX is about one thread. All 32 of a warp run it at once, each with an address of "
                "its own.",
            ),
            Choice(
                "It loads 4 bytes, and 32 of them in a row.",
                "b32 counts bits, and v4 how many such values come at once.",
            ),
        ),
    ),
    Question(
        "A float32 kernel has the mask `cols < n`. Why are the loads narrow for n = 20, a multiple "
        "of 16 bytes?",
        (
            Choice(
                "A row of 20 is too short for a wide load.",
                "Five wide loads would bring it.",
            ),
            Choice(
                "Triton notes whether n is divisible by 16, and 20 is not. So n might be anything.",
                "Yes. Then the mask may end within four lanes, and rows may start anywhere.",
                right=True,
            ),
            Choice(
                "Because wide loads must not be masked.",
                "They may: one mask for all four lanes, if it is known to be the same for them.",
            ),
        ),
    ),
    Question(
        "`tl.multiple_of(row * n, 4)` stands in a kernel, and n is 21. What happens?",
        (
            Choice(
                "The compiler sees that it is wrong, and loads single elements.",
                "It does not know n. A hint is believed.",
            ),
            Choice(
                "The values are rounded down to a multiple of 4.",
                "A hint changes no value. `n // 4 * 4` would.",
            ),
            Choice(
                "Where wide loads come of it, they start at addresses where none may start.",
                "Yes: a GPU stops with a misaligned address. A plain interpreter shows right "
                "numbers.",
                right=True,
            ),
        ),
    ),
    Question(
        "Where do you see that registers spill?",
        (
            Choice(
                "In the PTX: it names more than 255 registers.",
                "PTX always names as many as it likes. Room is found for them later.",
            ),
            Choice(
                "In what `ptxas` reports when it makes machine code of the PTX.",
                "Yes. Only there is it known what had no room.",
                right=True,
            ),
            Choice(
                "In the Python, by the size of the block.",
                "That gives a hint, no more: it depends on the warps and on what is alive at once.",
            ),
        ),
    ),
    Question(
        'What does `mode="max-autotune"` of torch.compile add for a matrix product?',
        (
            Choice(
                "It times several ways, cuBLAS and Triton templates, on your shapes, and keeps the "
                "fastest.",
                "Yes. It costs time at the first call, and again for new shapes.",
                right=True,
            ),
            Choice(
                "It finds an algorithm with fewer operations.",
                "The product stays what it is. What is chosen is the routine and its blocks.",
            ),
            Choice(
                "It computes in a smaller dtype.",
                "It chooses among routines for the dtype that you gave.",
            ),
        ),
    ),
)
