"""What counts as solved in the lesson on vector addition."""

from __future__ import annotations

from graders.course.common import elementwise, placement, remarks, rounding, shared
from graders.course.common.expected import computes
from graders.judge.cases.builders import FLOATS, VECTOR_SIZES, cases, two
from graders.judge.records import Exercise, Misconception

MISCONCEPTIONS = (
    shared.last_element_missed(),
    Misconception(
        code="one-input-twice",
        title="One of the inputs is used twice",
        message=(
            "The output is x + x or y + y: both loads read from the same pointer, so the other "
            "input is not in the sum."
        ),
        next_step="Load x from `x_ptr` and y from `y_ptr`, and store their sum.",
        expected_wrong=computes(lambda x, y: x + x, lambda x, y: y + y),
    ),
    Misconception(
        code="one-input-ignored",
        title="Only one of the inputs arrives in the output",
        message=(
            "The output equals one of the inputs, unchanged. The value that the kernel stores is "
            "a loaded block, not the sum."
        ),
        next_step="Pass the sum to `tl.store`: `x + y`.",
        expected_wrong=computes(lambda x, y: x, lambda x, y: y),
    ),
    Misconception(
        code="wrong-operation",
        title="The elements are combined, but not added",
        message=(
            "The kernel combines the correct elements, but the output is their difference or "
            "their product."
        ),
        next_step="Store `x + y`.",
        expected_wrong=computes(lambda x, y: x - y, lambda x, y: x * y, lambda x, y: y - x),
    ),
    elementwise.load_ignores_pid(lambda x, y: x + y),
    elementwise.through_integers(),
    rounding.lossy_dtype(),
    placement.starts_before_tensor(),
    placement.address_stretched(),
    shared.missing_mask("a vector"),
    placement.mask_too_narrow(),
    *placement.misplaced_programs(),
    shared.programs_race("The offsets of the store are not those of the program's own block."),
    shared.grid_too_small(),
)

CASES = (
    *cases(two, "n", [1000, 5000], why="One block or several, the last one not full."),
    *cases(two, "n", [4096], why="Full blocks."),
    *cases(two, "n", [100_003], why="Many blocks, whatever their size."),
    *cases(two, "n", [1000], draws=3, engine_orders=True)[1:],
    *cases(two, "n", VECTOR_SIZES, part="edges", why="None, few, or near a power of two."),
    *cases(two, "n", [1000], part="types", dtypes=FLOATS[1:], why="Keep the dtype of x."),
    *cases(two, "n", [1, 0], part="types", dtypes=FLOATS[1:]),
    *cases(two, "n", [700], part="types", fills=["specials"], dtypes=FLOATS, why="NaN and inf."),
    *cases(two, "n", [700], part="types", scale=1e30, why="Large numbers."),
    *cases(two, "n", [700], part="types", scale=1e-30, why="Tiny numbers."),
    *cases(two, "n", [700], part="types", shift=1e6, why="Numbers that float16 cannot hold."),
    *cases(two, "n", [700], part="types", fills=["ramp"], dtypes=FLOATS),
)

EXERCISES = (
    Exercise(
        name="vector_add",
        lesson="vector_add",
        title="Add two vectors",
        parameters=("x", "y"),
        reference=lambda x, y: x + y,
        cases=CASES,
        large=cases(two, "n", [2**22 + 5], part="edges", why="Thousands of programs."),
        hints=(
            "Each program adds one block. Which elements does program 0 add, and which ones "
            "program 1? Write them down for 7 elements in blocks of 4.",
            "Program `pid` works on the offsets `pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)`. "
            "The mask is `offsets < n_elements`, because the last block may reach past the end. "
            "The launcher starts `triton.cdiv(n_elements, 1024)` programs for blocks of 1,024.",
            "`x = tl.load(x_ptr + offsets, mask=mask)`, the same for y, then "
            "`tl.store(output_ptr + offsets, x + y, mask=mask)`; the launch is "
            "`add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=1024)`.",
        ),
        challenge="Remove the mask from the store and check: which program would store outside?",
        misconceptions=MISCONCEPTIONS,
        parts={"core": 4, "edges": 3, "types": 3},
        magnitude=lambda x, y: x.abs() + y.abs(),
        remarks=remarks.WASTE,
        forbids=frozenset({"moves"}),
    ),
)
