"""What counts as solved in the lesson on memory and compute: a ReLU over a matrix."""

from __future__ import annotations

import torch

from graders.course.common import elementwise, placement, rounding, shared, strides
from graders.course.common.expected import computes
from graders.judge.cases.builders import FLOATS, HALVES, cases, one
from graders.judge.records import Evidence, Exercise, Misconception

AXES = "rows columns"


def _rows_as_long_as_block(evidence: Evidence) -> bool:
    """Return whether each row's program starts a multiple of the block size after row 0."""
    width = evidence.expected.shape[1] if evidence.expected.dim() == 2 else 0
    for fault in evidence.faults:
        seen, program = fault.outside, fault.program
        if seen is None or not program or not program[0] or not evidence.launches:
            continue
        sizes = evidence.launches[-1].meta.values()
        blocks = [n for n in sizes if type(n) is int and n > width]
        if seen.active == width and seen.highest + 1 - width in [program[0] * n for n in blocks]:
            return True
    return False


RELU2D = Exercise(
    name="relu2d",
    lesson="memory_vs_compute",
    title="ReLU over a matrix",
    parameters=("x",),
    reference=lambda x: torch.relu(x),
    nan_may_be=(0.0,),
    cases=(
        *cases(one, AXES, [(64, 64), (100, 100), (20, 90), (90, 20), (128, 32), (37, 53)]),
        *cases(one, AXES, [(150, 301)], why="Many blocks, whatever their size."),
        *cases(one, AXES, [(2, 20_000)], why="Rows longer than most blocks."),
        *cases(one, AXES, [(33, 40)], engine_orders=True),
        *cases(one, AXES, [(1, 1), (1, 1000), (1000, 1), (15, 17), (31, 33)], part="edges"),
        *cases(one, AXES, [(127, 129), (2, 3), (0, 5), (5, 0), (1030, 3)], part="edges"),
        *cases(one, AXES, [(40, 51)], part="types", dtypes=HALVES, why="Keep the dtype of x."),
        *cases(one, AXES, [(24, 31)], part="types", fills=["specials"], dtypes=FLOATS),
        *cases(one, AXES, [(24, 31)], part="types", scale=1e30, why="Large numbers."),
        *cases(one, AXES, [(24, 31)], part="types", scale=1e-30, why="Tiny numbers."),
    ),
    large=cases(one, AXES, [(2053, 1531), (70_001, 33)], part="edges", why="Many programs."),
    hints=(
        "ReLU needs one element at a time, and a contiguous matrix is one line of memory. "
        "Does the kernel need to know about rows and columns at all?",
        "Treat the matrix as a vector of `x.numel()` elements, as in vector addition: offsets, "
        "mask, load, one operation, store. The launcher is that of vector addition, with one "
        "input.",
        "`x = tl.load(x_ptr + offsets, mask=mask)` and "
        "`tl.store(output_ptr + offsets, tl.where(x > 0, x, 0.0), mask=mask)`; the launch is "
        "`relu_kernel[grid](x, output, n_elements, BLOCK_SIZE=1024)`, with "
        "`grid = (triton.cdiv(n_elements, 1024),)`.",
    ),
    challenge="Launch half of the programs and check again: which elements does no program store?",
    misconceptions=(
        shared.last_element_missed(),
        Misconception(
            code="wrong-half-kept",
            title="The negative numbers are kept, the positive ones lost",
            message=(
                "The output is min(x, 0): the comparison or the two branches of `tl.where` are "
                "exchanged."
            ),
            next_step="ReLU keeps what is above zero: `tl.where(x > 0, x, 0.0)`.",
            expected_wrong=computes(lambda x: torch.clamp(x, max=0)),
        ),
        Misconception(
            code="absolute-value",
            title="Negative numbers come out positive",
            message="The output is |x|. ReLU sets negative numbers to zero.",
            next_step="Replace the absolute value by `tl.maximum(x, 0.0)`.",
            expected_wrong=computes(lambda x: x.abs()),
        ),
        Misconception(
            code="relu-missing",
            title="Negative numbers pass through",
            message="The output equals x: the kernel copies x and applies no ReLU.",
            next_step="Store `tl.where(x > 0, x, 0.0)`, not the block that you loaded.",
            expected_wrong=computes(lambda x: x),
        ),
        Misconception(
            code="indicator-stored",
            title="The comparison itself was stored",
            message=(
                "The output is 1 where x is positive and 0 elsewhere. That is the derivative of "
                "ReLU, not its value."
            ),
            next_step="Use the comparison to choose: `tl.where(x > 0, x, 0.0)`.",
            expected_wrong=computes(lambda x: (x > 0).double()),
        ),
        Misconception(
            code="sign-of-whole-part",
            title="The integer part of a number decides, not the number",
            message=(
                "Numbers between -1 and 1 are treated as 0: the kernel converts x to an integer "
                "type before the comparison, which drops the fraction."
            ),
            next_step="Compare x without a conversion: `tl.where(x > 0, x, 0.0)`.",
            expected_wrong=computes(
                lambda x: torch.where(x.trunc() > 0, x, 0.0),
                lambda x: torch.where(x.trunc() >= 0, x, 0.0),
            ),
        ),
        elementwise.infinity_times_zero(),
        elementwise.another_activation("max(x, 0)", lambda x: x),
        elementwise.block_reduced(),
        elementwise.load_ignores_pid(torch.relu),
        elementwise.through_integers(),
        rounding.lossy_dtype(),
        strides.row_stride_is_height(),
        Misconception(
            code="rows-as-long-as-block",
            places=True,
            title="The kernel assumes that rows are as long as a block",
            message=(
                "Each program works on one row and looks for it at `row * BLOCK_SIZE`. The rows "
                "are shorter than a block, so every row but the first is read too far along in "
                "memory."
            ),
            next_step="Row `row` starts at `row * n_cols`.",
            rules_out=frozenset({"missing-mask"}),
            detector=_rows_as_long_as_block,
        ),
        placement.rows_for_elements(),
        placement.starts_before_tensor(),
        placement.mask_sizes_exchanged("n_rows", "n_cols"),
        shared.missing_mask("a matrix"),
        placement.mask_too_narrow(),
        shared.axes_of_grid_swapped(),
        shared.axis_ignores_pid(),
        shared.tiles_missing("n_rows", "n_cols"),
        *placement.misplaced_programs(),
    ),
    parts={"core": 4, "edges": 3, "types": 3},
    magnitude=lambda x: x.abs(),
)

EXERCISES = (RELU2D,)
