"""What counts as solved in the lesson on debugging: a copy without its three bugs."""

from __future__ import annotations

import torch

from graders.course.common import elementwise, placement, remarks, rounding, shared
from graders.course.common.expected import computes
from graders.judge.cases.builders import ANY_DTYPE, VECTOR_SIZES, cases, one
from graders.judge.records import Exercise, Misconception

COPY = Exercise(
    name="copy",
    lesson="debugging",
    title="Copy a vector",
    parameters=("x",),
    reference=lambda x: x,
    exact=True,
    cases=(
        *cases(one, "n", [1000, 5000], why="One block or several, the last one not full."),
        *cases(one, "n", [4096], why="Full blocks."),
        *cases(one, "n", [100_003], why="Many blocks, whatever their size."),
        *cases(one, "n", [700], engine_orders=True),
        *cases(one, "n", VECTOR_SIZES, part="edges", why="None, few, or near a power of two."),
        *cases(one, "n", [900], part="types", dtypes=ANY_DTYPE, why="A copy keeps every bit."),
        # As long as one above: a buffer that is kept from call to call shows.
        *cases(one, "n", [1000], part="types", fills=["specials"], why="NaN and infinities."),
        *cases(one, "n", [0, 1], part="types", dtypes=[torch.int64, torch.bool]),
    ),
    large=cases(one, "n", [2**22 + 5], part="edges", why="Thousands of programs."),
    hints=(
        "Print the program id and the offsets of the first programs for a vector of 10 elements "
        "in blocks of 4. Which elements does each program touch? Which of them should it?",
        "Avoid the three bugs: the offsets depend on `pid`, the programs are one *block* apart, "
        "and the last block needs a mask.",
        "`pid = tl.program_id(axis=0)`, `offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)`, "
        "`mask = offsets < n_elements`. Then `x = tl.load(x_ptr + offsets, mask=mask)` and "
        "`tl.store(output_ptr + offsets, x, mask=mask)`.",
    ),
    challenge=(
        "Multiply `pid` by `n_elements` instead of `BLOCK_SIZE` and check again: where does "
        "program 1 go?"
    ),
    misconceptions=(
        shared.last_element_missed(),
        rounding.lossy_copy(),
        Misconception(
            code="value-added",
            title="The copy changes every value",
            message=(
                "Each element of the output is the original plus 1, perhaps from a trial while "
                "debugging."
            ),
            next_step="Store the loaded block unchanged.",
            expected_wrong=computes(lambda x: None if x.dtype == torch.bool else x + 1),
        ),
        elementwise.load_ignores_pid(lambda x: x),
        placement.starts_before_tensor(),
        placement.address_stretched(),
        shared.missing_mask("a vector"),
        placement.mask_too_narrow(),
        *placement.misplaced_programs(),
        shared.programs_race("The offsets of the store are not those of the program's own block."),
        shared.grid_too_small(),
    ),
    parts={"core": 4, "edges": 3, "types": 3},
    forbids=frozenset({"copies"}),
    remarks=remarks.WASTE,
)

EXERCISES = (COPY,)
