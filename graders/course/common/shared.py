"""Misconceptions that many exercises share, with words that fit each of them."""

from __future__ import annotations

from typing import Any

from graders.course.common.detectors import (
    OUT_OF_BOUNDS,
    RACES,
    Detector,
    grid_axes_swapped,
    has_fault,
    leaves_tiles_out,
    one_program_per_column,
    programs,
    programs_left_over,
    ran_out_of_programs,
    ran_out_of_tiles,
    stays_along_one_axis,
    stored_prefix,
    stuck_on_first_tile,
)
from graders.course.common.expected import (
    Results,
    computes_from_memory,
    each,
    inputs_as_if_contiguous,
)
from graders.course.common.strays import reaches_far, strays_in_view
from graders.judge.cases.compare import widened
from graders.judge.records import Evidence, Misconception


def missing_mask(what: str, bound: str = "n_elements") -> Misconception:
    """Return the misconception of lanes that leave the tensor. `what` is loaded or stored.

    `bound` names the number of elements, or those of rows and columns with "and" between them.
    """
    rows, _, columns = bound.partition(" and ")
    compared = f"the offsets with `{bound}`"
    if columns:
        compared = (
            f"rows with `{rows}` and columns with `{columns}` (a flat offset with "
            f"`{rows} * {columns}`)"
        )
    return Misconception(
        code="missing-mask",
        places=True,
        title="Some lanes of the last block lie outside the tensor",
        message=(
            f"A block always has all its lanes, but {what} rarely ends exactly where a block "
            "ends. The lanes that stick out touched memory that is not yours. On a GPU that "
            "reads rubbish or overwrites somebody else's data, often without any error. Either the "
            "line has no mask, or its mask lets these lanes through: with `<=`, `>` or `>=` in "
            "place of `<`, with `|` in place of `&`, by testing rows or columns alone, or the "
            "number of a lane in place of its offset."
        ),
        next_step=(
            f"Build the mask by comparing {compared}, strictly smaller, and give it to *every* "
            "`tl.load` and `tl.store` of the kernel. If the mask is right already, the address is "
            "wrong: write down pointer, stride and offset of one lane that lies outside. Each "
            "offset is added once, and a pointer counts elements, not bytes: `x_ptr + 1` is the "
            "next one."
        ),
        faults=OUT_OF_BOUNDS,
    )


def other_missing(neutral: str, detector: Detector | None = None) -> Misconception:
    """Return the misconception of masked lanes that enter a result. `neutral` goes unnoticed."""
    return Misconception(
        code="other-missing",
        title="Lanes that were masked off take part in the result",
        message=(
            "A `tl.load` with a mask and without `other` leaves the lanes that are masked off "
            "undefined: on a GPU they hold whatever was in the register. They never reach the "
            "output by a store, but here they did by way of a sum, a maximum or a product over "
            "the block. (The judge fills them with NaN, so that it shows; behind a `tl.maximum` "
            "with 0 such a NaN has become 0.)"
        ),
        next_step=f"Say what they hold: `tl.load(..., mask=mask, other={neutral})`.",
        faults=frozenset({"masked-lanes-used"}),
        detector=detector,
    )


def tiles_lost() -> Misconception:
    """Return the misconception of tiles that nobody took although there are programs for all."""
    return Misconception(
        code="tiles-lost",
        title="There are programs for all tiles, but some tiles are left out",
        message=(
            "The grid is right: it has a program for each tile. Yet some tiles were never "
            "computed, because other programs took the same ones twice, or tiles that do not "
            "exist: the mapping from program to tile is no bijection. Usual causes: rows and "
            "columns from the same axis of the grid, or from one that it does not have, an axis "
            "counted in blocks of the other axis, BLOCK_M for BLOCK_N, an id that is divided by "
            "the wrong number of tiles, or a last group of rows that is treated like a full one."
        ),
        next_step=(
            "Write down (pid_m, pid_n) for each program of a small case, 3 x 2 tiles for "
            "instance: each pair must come exactly once. (`swizzle_ids` on 5 x 4 tiles shows the "
            "last group.)"
        ),
        detector=leaves_tiles_out,
    )


def grid_too_large() -> Misconception:
    """Return the misconception of programs that have no tile, and load as if they had."""
    return Misconception(
        code="grid-too-large",
        title="There are more programs than tiles",
        message=(
            "The grid has programs left over when every tile has one. Their row or column numbers "
            "lie beyond the matrix, or come out negative, and the masks do not keep them from "
            "loading."
        ),
        next_step=(
            "Launch `triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N)` programs, with the block "
            "sizes that the kernel gets."
        ),
        detector=programs_left_over,
    )


def axes_of_grid_swapped() -> Misconception:
    """Return the misconception of a grid whose axes have changed places."""
    return Misconception(
        code="grid-axes-swapped",
        places=True,
        title="The two axes of the grid have changed places",
        message=(
            "The grid has as many programs along one axis as there are tiles along the *other*. "
            "The kernel takes its rows by one program id and its columns by the other one, and "
            "the launch counts them the other way round: some tiles have no program, and some "
            "programs have no tile. Square matrices hide it."
        ),
        next_step=(
            "The first number of the grid belongs to `tl.program_id(0)`: count there what the "
            "kernel multiplies that id by."
        ),
        detector=grid_axes_swapped,
    )


def programs_by_column() -> Misconception:
    """Return the misconception of a grid that has a program for each column, not for each row."""
    return Misconception(
        code="programs-by-column",
        places=True,
        title="There is a program for each column, not for each row",
        message=(
            "A program takes a row, but the grid has as many programs as there are *columns*. With "
            "more columns than rows the last programs work on rows that do not exist; with more "
            "rows than columns the last rows are never computed. Square matrices hide it."
        ),
        next_step="Launch one program for each row: `grid = (n_rows,)`, which is `x.shape[0]`.",
        detector=one_program_per_column,
    )


def offset_ignores_pid() -> Misconception:
    """Return the misconception that leaves all programs on the first block."""
    return Misconception(
        code="offset-ignores-pid",
        places=True,
        in_all_gaps=True,
        title="Only the first block was computed",
        message=(
            "The launch had programs enough for all elements, but hardly more than the first "
            "block was stored. Either every program works on the first block, because its offsets "
            "do not depend on `tl.program_id` (or its mask compares them with `BLOCK_SIZE`), or "
            "the programs start at the wrong distance. At `pid` they are one *element* apart. At "
            "`pid * n_elements`, or with a factor too many as in `pid * BLOCK_SIZE * 4`, they "
            "start behind the end, where the mask rightly switches them off. (A pointer counts "
            "elements, not bytes.)"
        ),
        next_step=(
            "Program `pid` has `pid` blocks before it, so it starts at `pid * BLOCK_SIZE`. Write "
            "down offsets and mask of program 1 for a block of 4."
        ),
        detector=stuck_on_first_tile,
    )


def grid_too_small(size: str = "n_elements") -> Misconception:
    """Return the misconception of a grid that leaves the tail of a flat output out."""
    return Misconception(
        code="grid-too-small",
        places=True,
        title="There was no program for the last elements",
        message=(
            "The end of the output was never stored: the programs of the grid do not reach it. "
            f"`{size} // BLOCK_SIZE` rounds down and forgets the block that is not full; a grid "
            "that was counted with another block size than the kernel has is too small; and a "
            "fixed number of programs suits only one size, unless each of them loops over its "
            "share of the blocks, to the very last one."
        ),
        next_step=(
            f"Round up, `grid = (triton.cdiv({size}, BLOCK_SIZE),)`, with the BLOCK_SIZE that the "
            "kernel gets. A program that loops goes on by `tl.num_programs(0)` blocks."
        ),
        detector=ran_out_of_programs,
    )


def tiles_missing(rows: str = "m", columns: str = "n") -> Misconception:
    """Return the misconception of a 2D grid that leaves the last rows or columns out."""
    return Misconception(
        code="grid-too-small",
        places=True,
        title="There was no program for the last rows or columns",
        message=(
            "Whole rows or columns at the end of the output were never stored: no program gets "
            "that far. `//` rounds down and forgets the tile that is not full, in the grid and "
            "in the bounds of a loop; a fixed block covers only so many columns; a mask may stop "
            "one too early; a grid that counts rows has too few programs where the kernel counts "
            "elements; and a grid, or a mask, whose two axes are exchanged fits square matrices "
            "only."
        ),
        next_step=(
            f"Round up on both axes, `triton.cdiv({rows}, BLOCK_M)` and "
            f"`triton.cdiv({columns}, BLOCK_N)`, check that the axis of `tl.program_id` matches "
            "the place in the grid, and that each mask compares with the size of its own axis. "
            "A kernel with flat offsets needs programs for all elements: rows times columns, "
            "`x.numel()`."
        ),
        detector=ran_out_of_tiles,
    )


def axis_ignores_pid() -> Misconception:
    """Return the misconception of a 2D grid of which one axis enters no offset."""
    return Misconception(
        code="axis-ignores-pid",
        places=True,
        in_all_gaps=True,
        title="One axis stays on its first block",
        message=(
            "The grid has programs enough along both axes, but along one of them all programs "
            "work on the first block: its offsets do not move on with the program id of that "
            "axis. Either the id is not used, or it is multiplied by something else than the "
            "block size of its own axis."
        ),
        next_step=(
            "Each axis needs an id of its own: `tl.program_id(0) * BLOCK_M + tl.arange(0, "
            "BLOCK_M)` for the rows, `tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)` for "
            "the columns."
        ),
        detector=stays_along_one_axis,
    )


def last_element_missed() -> Misconception:
    """Return the misconception of a mask that is one too narrow on a flat output."""

    def detector(evidence: Evidence) -> bool:
        return stored_prefix(evidence) == evidence.expected.numel() - 1 and programs(evidence) > 0

    return Misconception(
        code="last-element-missed",
        places=True,
        title="The last element is missing",
        message=(
            "All but the very last element is there. The mask stops one too early: with "
            "`n_elements` elements the valid offsets are 0 to `n_elements - 1`, and "
            "`offsets < n_elements` already leaves `n_elements` out."
        ),
        next_step="Compare with `n_elements` itself, not with `n_elements - 1`.",
        detector=detector,
    )


def offset_in_32_bits() -> Misconception:
    """Return the misconception of offsets that overflow 32 bits."""
    return Misconception(
        code="offset-in-32-bits",
        places=True,
        title="An offset does not fit into 32 bits",
        message=(
            "`tl.program_id` and `tl.arange` are 32-bit integers, and so is their product with "
            "a small stride. Past 2**31 elements the product wraps around and points *before* "
            "the tensor. Small tests never show it; a view into a large tensor does."
        ),
        next_step=(
            "Go to 64 bits before you multiply: `row.to(tl.int64) * stride_row`, and the columns "
            "alike, whose stride may be as large. Converting the finished product is too late."
        ),
        faults=frozenset({"offset-overflow"}),
        detector=lambda evidence: reaches_far(evidence) and has_fault(evidence, OUT_OF_BOUNDS),
    )


def contiguous_assumed(reference: Results, width: str = "the width") -> Misconception:
    """Return the misconception of the stride trap: stride = width, whatever the view."""

    def misread(*args: Any) -> list[Any]:
        return each(reference(*widened(read)) for read in inputs_as_if_contiguous(args))

    return Misconception(
        code="contiguous-assumed",
        places=True,
        title="The kernel takes a view to be contiguous",
        message=(
            f"It finds the next row by stepping over {width} (or the next column by stepping "
            "over 1), which is true only of a tensor that lies densely in memory, row after "
            "row. This case passes a view: its rows lie further apart, its columns are not "
            "neighbours, or one row is repeated. So the kernel reads elements that are not part "
            "of this view (lesson 04 calls them ghost data). Contiguous tensors never show it."
        ),
        next_step=(
            "Pass `x.stride(0)` and `x.stride(1)` to the kernel, and compute every address as "
            "`base + row * stride_row + column * stride_column`."
        ),
        expected_wrong=computes_from_memory(misread),
        detector=strays_in_view,
    )


def programs_race(what: str, detector: Detector | None = None) -> Misconception:
    """Return the misconception of several programs that store to the same elements."""
    return Misconception(
        code="programs-race",
        places=True,
        title="Several programs write to the same elements",
        message=(
            f"{what} Programs run at the same time and in any order, so whichever stores last "
            "wins and the work of the others is lost. Run one after another, as on a patient "
            "interpreter, the result can even look right."
        ),
        next_step=(
            "Give each output element to exactly one program, which does all the work for it. "
            "(Where that is impossible, `tl.atomic_add` on a zeroed float32 output adds safely.)"
        ),
        faults=RACES,
        detector=detector,
    )
