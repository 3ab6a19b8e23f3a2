"""What counts as solved in the lesson on what lies below Triton: wide loads, no spills."""

from __future__ import annotations

from graders.course.below_triton.mistakes.in_ptx import WIDE_LOADS, no_spills
from graders.course.below_triton.mistakes.records import MISTAKES
from graders.course.below_triton.reference import scale_rows
from graders.judge.cases.builders import HALVES, cases
from graders.judge.records import Arg, Choice, Exercise, Question, TensorSpec

AXES = "m n"
KNOWN = "A row is a multiple of 16 elements: Triton knows it."
UNTOLD = "A row is a multiple of 16 bytes, not of 16 elements: the kernel must tell the compiler."


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
        "Look at the loads with show_ptx for a row of 64 and for one of 20, both in float32. "
        "Which of the three conditions (neighbours, alignment, one mask) can the compiler not "
        "prove for 20? And does each thread get 16 bytes of the block?",
        "In the kernel write `n_cols = n_cols // VECTOR * VECTOR`, and use it for offsets and "
        "mask. In the launcher VECTOR is the number of elements in 16 bytes if it divides "
        "n_cols, else 1.",
        "`offsets = rows[:, None] * n_cols + cols[None, :]`, `s = tl.load(s_ptr + rows, "
        "mask=rows < n_rows)`, `x * s[:, None]`. Launcher: `block_n = "
        "min(triton.next_power_of_2(max(n_cols, 1)), 2048)`, `block_m = 2048 // block_n`, "
        "`vector = 16 // x.element_size()`, and 1 if `n_cols % vector`. Grid: tiles along "
        "rows, then along columns.",
    ),
    challenge=(
        "Write `cols <= n_cols - 1` for `cols < n_cols` and check again: the values stay "
        "correct. What does the PTX say?"
    ),
    misconceptions=MISTAKES,
    compiler_promises=(*WIDE_LOADS, no_spills()),
    parts={"core": 4, "edges": 2, "types": 4},
)

EXERCISES = (SCALE_ROWS,)
QUIZ = (
    Question(
        "What does `@%p1 ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];` do?",
        (
            Choice(
                "It loads 128 bits for one thread.",
                (
                    "Yes: four values of 32 bits by one instruction, into four registers, if %p1 "
                    "is true."
                ),
                right=True,
            ),
            Choice(
                "It loads 32 bits for each of four threads.",
                (
                    "PTX describes one thread. All 32 threads of a warp run it at once, each with "
                    "its own address."
                ),
            ),
            Choice(
                "It loads 4 bytes, then 32 bytes.",
                "b32 counts bits, and v4 says how many such values come at once.",
            ),
            Choice(
                "It loads one value from each of four addresses.",
                "One register, %rd1, holds the address. The four values are adjacent.",
            ),
        ),
    ),
    Question(
        (
            "A float32 kernel has the mask `cols < n`. Why are the loads narrow for n = 20, a "
            "multiple of 16 bytes?"
        ),
        (
            Choice(
                "A row of 20 is too short for a wide load.",
                "Five wide loads would fetch it.",
            ),
            Choice(
                "Triton checks only whether n is divisible by 16.",
                (
                    "Yes, and 20 is not. So the mask may end within four lanes, and rows may "
                    "start anywhere."
                ),
                right=True,
            ),
            Choice(
                "Wide loads cannot have a mask.",
                (
                    "They can: one mask for all four lanes, if the compiler can prove that it is "
                    "the same for them."
                ),
            ),
            Choice(
                "The mask reads one element past the end.",
                (
                    "It does not: lane 20 is masked off. Masks cost no width if the compiler can "
                    "prove enough."
                ),
            ),
        ),
    ),
    Question(
        ("A kernel contains `row_start = tl.multiple_of(row * n, 4)`, and n is 21. What happens?"),
        (
            Choice(
                "The compiler sees that it is wrong, and loads single elements.",
                "It does not know n. It trusts the hint.",
            ),
            Choice(
                "The value is rounded down to a multiple of 4.",
                "A hint changes no value. `n // 4 * 4` would.",
            ),
            Choice(
                "A wide load may use a misaligned address.",
                "Yes: a GPU stops there. A plain interpreter shows correct numbers.",
                right=True,
            ),
            Choice(
                "Triton compiles a second version without the hint.",
                "Specialization looks at arguments and not at hints.",
            ),
        ),
    ),
    Question(
        (
            "In the launcher, `vector = 16 // x.element_size()`; in the kernel, `n = n // vector "
            "* vector`. x is float16, n is 36. What is wrong?"
        ),
        (
            Choice(
                "Nothing: the loads become 128 bits wide.",
                "They do, but 36 is not a multiple of 8.",
            ),
            Choice(
                "vector is 4, so the loads have only 64 bits.",
                "A float16 has 2 bytes, so vector is 8.",
            ),
            Choice(
                "The kernel computes 40 columns and writes past the row.",
                "`//` rounds down, so n becomes smaller.",
            ),
            Choice(
                "The kernel computes only 32 of 36 columns.",
                "Yes: 36 // 8 * 8 = 32. The launcher must take vector = 1 here.",
                right=True,
            ),
        ),
    ),
    Question(
        "Where do you see that registers spill?",
        (
            Choice(
                "In the PTX: it names more than 255 registers.",
                (
                    "PTX can always use any number of registers. `ptxas` assigns the real ones "
                    "later."
                ),
            ),
            Choice(
                "In the report of `ptxas`.",
                "Yes. `ptxas` assigns the real registers, so only it knows what did not fit.",
                right=True,
            ),
            Choice(
                "In the Python, by the size of the block.",
                (
                    "The block size gives only a hint: spills also depend on the warps and on how "
                    "many values are live at once."
                ),
            ),
            Choice(
                "In the result: spilled values are less precise.",
                "A spill stores and loads the same bits. It costs time only.",
            ),
        ),
    ),
    Question(
        'What does `mode="max-autotune"` of torch.compile add for a matrix product?',
        (
            Choice(
                "It times cuBLAS and Triton templates on your shapes and keeps the fastest.",
                "Yes. It costs time at the first call, and again for new shapes.",
                right=True,
            ),
            Choice(
                "It finds an algorithm with fewer operations.",
                "The operations stay the same. It chooses the routine and its block sizes.",
            ),
            Choice(
                "It computes in a smaller dtype than the one that you gave to it.",
                "It chooses among routines for the dtype that you gave.",
            ),
            Choice(
                "It writes the product by hand-optimised PTX.",
                "It generates Triton from templates, which Triton compiles to PTX.",
            ),
        ),
    ),
)
