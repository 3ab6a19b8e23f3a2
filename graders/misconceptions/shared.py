"""Misconceptions that many exercises share, with words that fit each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from graders.judge.cases.compare import widened
from graders.judge.records import Evidence, Misconception
from graders.misconceptions.detectors import (
    OUT_OF_BOUNDS,
    RACES,
    Detector,
    apart,
    came_to_all,
    has_fault,
    has_holes,
    programs,
    ran_out_of_programs,
    ran_out_of_tiles,
    reaches_far,
    stays_along_one_axis,
    stored_prefix,
    strays_in_view,
    stuck_on_first_tile,
    tensors,
)
from graders.misconceptions.detectors import starts_before_tensor as starts_before
from graders.misconceptions.expected import (
    Result,
    computes_from_memory,
    each,
    inputs_as_if_contiguous,
)


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
            "reads rubbish or overwrites somebody else's data, often without any error. A mask "
            "that is too wide does the same: `<=` for `<`, the bound of the other axis, a mask "
            "of the columns alone, or the number of the lane in place of its offset."
        ),
        next_step=(
            f"Build the mask by comparing {compared}, strictly smaller, and give it to *every* "
            "`tl.load` and `tl.store` of the kernel. Is it right already? Then the address is "
            "not: write down pointer, stride and offset of one lane that strays."
        ),
        faults=OUT_OF_BOUNDS,
    )


def offset_ignores_pid() -> Misconception:
    """Return the misconception that leaves all programs on the first block."""
    return Misconception(
        code="offset-ignores-pid",
        places=True,
        title="Only the first block was computed",
        message=(
            "The launch had programs enough for all elements, but hardly more than one block "
            "arrived. Either every program works on the first block, because its offsets do not "
            "depend on `tl.program_id` (or its mask compares them with `BLOCK_SIZE`), or the "
            "programs start at the wrong distance: at `pid`, one *element* apart, or at "
            "`pid * n_elements`, where the mask rightly silences them."
        ),
        next_step=(
            "Program number `pid` starts where `pid` blocks have gone before it: at "
            "`pid * BLOCK_SIZE`. Write down offsets and mask of program 1 for a block of 4."
        ),
        detector=stuck_on_first_tile,
    )


def misplaced_programs() -> tuple[Misconception, ...]:
    """Return the misconceptions of programs that start at the wrong distance, told apart.

    Where nobody knows the distance the first one speaks of all of them.
    """

    def at(wanted: Callable[[int, int], bool]) -> Detector:
        def detector(evidence: Evidence) -> bool:
            known = apart(evidence)
            return has_holes(evidence) and known is not None and wanted(*known)

        return detector

    def same_place(evidence: Evidence) -> bool:
        known = apart(evidence)
        return stuck_on_first_tile(evidence) if known is None else at(lambda d, _: d == 0)(evidence)

    start = (
        "Program number `pid` starts where `pid` blocks have gone before it: at "
        "`pid * BLOCK_SIZE`. Write down offsets and mask of program 1 for a block of 4."
    )
    return (
        Misconception(
            code="programs-too-far-apart",
            places=True,
            title="The programs start too far apart",
            message=(
                "Program 0 is right, but program 1 starts further on than the first block "
                "reaches, and what lies between is nobody's. `pid * n_elements` does that: each "
                "program skips a whole vector where it should skip a block, and the mask rightly "
                "silences all that lies behind the end."
            ),
            next_step=start,
            detector=at(lambda distance, lanes: distance > lanes),
        ),
        Misconception(
            code="programs-too-close",
            places=True,
            title="The programs start too close to each other",
            message=(
                "Each program starts before the block of the one before it is over, so they all "
                "work on nearly the same elements and never come to the rest. "
                "`pid + tl.arange(0, BLOCK_SIZE)` does that: it moves on by one *element*, where "
                "it should move on by a block."
            ),
            next_step=start,
            detector=at(lambda distance, lanes: 0 < distance < lanes),
        ),
        replace(
            offset_ignores_pid(),
            message=(
                "The launch had programs enough for all elements, but every one of them worked on "
                "the first block: the offsets of the store do not depend on `tl.program_id`."
            ),
            next_step=start,
            detector=same_place,
        ),
    )


def starts_before_tensor() -> Misconception:
    """Return the misconception of offsets below zero, which no `offsets < n` stops."""
    return Misconception(
        code="starts-before-tensor",
        places=True,
        title="The first lanes lie before the tensor",
        message=(
            "Some offsets are negative. They point to memory in front of the first element, and "
            "a mask `offsets < n` lets them pass: a negative number is smaller than n, too."
        ),
        next_step=(
            "`tl.program_id` counts from 0, so program 0 starts at element 0: use `pid` itself, "
            "not `pid - 1`, and look for whatever else is subtracted from an offset."
        ),
        detector=starts_before,
    )


def mask_too_narrow(bound: str = "n_elements") -> Misconception:
    """Return the misconception of a mask that silences lanes whose elements exist.

    `bound` is as in `missing_mask`.
    """
    rows, _, columns = bound.partition(" and ")
    right = f"`offsets < {bound}`"
    if columns:
        right = (
            f"`(rows[:, None] < {rows}) & (cols[None, :] < {columns})`, or `offsets < {rows} * "
            f"{columns}` for a flat offset"
        )
    return Misconception(
        code="mask-too-narrow",
        places=True,
        title="The mask leaves out elements that exist",
        message=(
            "The grid is large enough: its programs come to every element. But the mask switches "
            "some of those lanes off, and their elements are never stored. So it compares with "
            "too small a number (rows where all elements are counted, the size of the other axis, "
            "BLOCK_SIZE, `n - 1`), or with the wrong index."
        ),
        next_step=(
            f"Let the mask hold for exactly the elements that there are: {right}. Work it out for "
            "the first element that is missing."
        ),
        detector=lambda evidence: has_holes(evidence) and came_to_all(evidence),
    )


def rows_for_elements() -> Misconception:
    """Return the misconception of a number of rows that is taken for that of all elements."""

    def detector(evidence: Evidence) -> bool:
        x = next(tensors(evidence))
        return x.dim() > 1 and x.shape[0] > 1 and stored_prefix(evidence) == x.shape[0]

    return Misconception(
        code="rows-for-elements",
        places=True,
        title="The rows were counted, not the elements",
        message=(
            "Exactly as many elements were stored as x has rows. `len(x)` and `x.shape[0]` are the "
            "number of *rows*; a flat offset runs through all elements, rows times columns."
        ),
        next_step=(
            "Take `x.numel()`, or `n_rows * n_cols`, both for the grid and for the mask of a flat "
            "offset."
        ),
        detector=detector,
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
            "one too early; and a grid, or a mask, whose two axes are exchanged fits square "
            "matrices only."
        ),
        next_step=(
            f"Round up on both axes, `triton.cdiv({rows}, BLOCK_M)` and "
            f"`triton.cdiv({columns}, BLOCK_N)`, check that the axis of `tl.program_id` matches "
            "the place in the grid, and that each mask compares with the size of its own axis."
        ),
        detector=ran_out_of_tiles,
    )


def axis_ignores_pid() -> Misconception:
    """Return the misconception of a 2D grid of which one axis enters no offset."""
    return Misconception(
        code="axis-ignores-pid",
        places=True,
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
            "Go to 64 bits before you multiply: `row.to(tl.int64) * stride_row`. Converting the "
            "finished product is too late."
        ),
        faults=frozenset({"offset-overflow"}),
        detector=lambda evidence: reaches_far(evidence) and has_fault(evidence, OUT_OF_BOUNDS),
    )


def contiguous_assumed(reference: Result, width: str = "the width") -> Misconception:
    """Return the misconception of the stride trap: stride = width, whatever the view."""

    def misread(*args: Any) -> list[torch.Tensor]:
        return each(reference(*widened(read)) for read in inputs_as_if_contiguous(args))

    return Misconception(
        code="contiguous-assumed",
        places=True,
        title="The kernel takes a view to be contiguous",
        message=(
            f"It finds the next row by stepping over {width} (or the next column by stepping "
            "over 1), which is true only of a tensor that lies densely in memory, row after "
            "row. This case passes a view: its rows lie further apart, its columns are not "
            "neighbours, or one row is repeated. So you read ghost data that belongs to "
            "somebody else's elements. Contiguous tensors never show this mistake."
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
