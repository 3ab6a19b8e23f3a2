"""What counts as solved in the lesson on what lies below Triton: wide loads, no spills."""

from __future__ import annotations

from graders.course.below_triton.mistakes.in_ptx import WIDE_LOADS, no_spills
from graders.course.below_triton.mistakes.records import MISTAKES
from graders.course.below_triton.reference import scale_rows
from graders.judge.cases.builders import HALVES, cases
from graders.judge.records import Arg, Exercise, TensorSpec

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
    compiler_requirements=(*WIDE_LOADS, no_spills()),
    parts={"core": 4, "edges": 2, "types": 4},
)

EXERCISES = (SCALE_ROWS,)
