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
            f"rows with `{rows}` and columns with `{columns}` (a flat offset with `{rows} * "
            f"{columns}`)"
        )
    return Misconception(
        code="missing-mask",
        places=True,
        title="Some lanes of the last block are outside the tensor",
        message=(
            f"A block always has all its lanes, but {what} rarely ends where a block ends. Some "
            "lanes accessed memory outside the tensor."
        ),
        next_step=(
            f"Build the mask with `<`, comparing {compared}, and pass it to every `tl.load` and "
            "`tl.store`. If it is correct already, check the address: a pointer counts elements, "
            "not bytes."
        ),
        faults=OUT_OF_BOUNDS,
    )


def other_missing(neutral: str, detector: Detector | None = None) -> Misconception:
    """Return the misconception of masked lanes that enter a result. `neutral` has no effect."""
    return Misconception(
        code="other-missing",
        title="Lanes that were masked off take part in the result",
        message=(
            "A `tl.load` with a mask and without `other` leaves the masked-off lanes undefined. "
            "Here they entered a sum, a maximum or a product over the block. (The judge fills "
            "them with NaN, so that the mistake shows.)"
        ),
        next_step=(
            "Give these lanes a value that does not change the result: `tl.load(..., mask=mask, "
            f"other={neutral})`."
        ),
        faults=frozenset({"masked-lanes-used"}),
        detector=detector,
    )


def tiles_lost() -> Misconception:
    """Return the misconception of tiles that no program computed despite enough programs."""
    return Misconception(
        code="tiles-lost",
        title="There are programs for all tiles, but some tiles are left out",
        message=(
            "The grid has a program for each tile, but some tiles were never computed: other "
            "programs computed the same tile twice, or tiles that do not exist."
        ),
        next_step=(
            "Write down (pid_m, pid_n) for each program of a small case, such as 3 x 2 tiles: "
            "each pair must appear once. Check the grid axis of each id, the divisor, and the "
            "last group."
        ),
        detector=leaves_tiles_out,
    )


def grid_too_large() -> Misconception:
    """Return the misconception of programs without a tile that load nevertheless."""
    return Misconception(
        code="grid-too-large",
        title="There are more programs than tiles",
        message=(
            "The grid has more programs than tiles. The row or column numbers of the extra "
            "programs are negative or outside the matrix, and the masks do not stop their loads."
        ),
        next_step=(
            "Launch `triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N)` programs, with the block "
            "sizes that the kernel gets."
        ),
        detector=programs_left_over,
    )


def axes_of_grid_swapped() -> Misconception:
    """Return the misconception of a grid whose axes are exchanged."""
    return Misconception(
        code="grid-axes-swapped",
        places=True,
        title="The two axes of the grid are exchanged",
        message=(
            "Along one axis the grid has as many programs as there are tiles along the *other* "
            "axis. So some tiles have no program, and some programs have no tile. Square matrices "
            "hide it."
        ),
        next_step=(
            "The first number of the grid belongs to `tl.program_id(0)`. If the kernel computes "
            "its rows from that id, the number of row tiles comes first."
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
            "A program computes one row, but the grid has as many programs as there are "
            "*columns*. With more columns than rows, the last programs work on rows that do not "
            "exist; otherwise the last rows are never computed. Square matrices hide it."
        ),
        next_step="Launch one program for each row: `grid = (n_rows,)` with `n_rows = x.shape[0]`.",
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
            "Little more than the first block was stored. Either the offsets do not depend on "
            "`tl.program_id`, or the programs start at the wrong distance, or the mask compares "
            "with `BLOCK_SIZE`."
        ),
        next_step=(
            "Program `pid` starts at `pid * BLOCK_SIZE`, not at `pid` or `pid * n_elements`. "
            "Write down the offsets and the mask of program 1 for a block of 4."
        ),
        detector=stuck_on_first_tile,
    )


def grid_too_small(size: str = "n_elements") -> Misconception:
    """Return the misconception of a grid that omits the tail of a flat output."""
    return Misconception(
        code="grid-too-small",
        places=True,
        title="There was no program for the last elements",
        message=(
            "The programs of the grid do not reach the end of the output, so it was never stored. "
            f"`{size} // BLOCK_SIZE` rounds down and drops the last, partial block."
        ),
        next_step=(
            f"Round up, `grid = (triton.cdiv({size}, BLOCK_SIZE),)`, with the BLOCK_SIZE that the "
            "kernel gets. If each program loops over blocks, step by `tl.num_programs(0)` blocks, "
            "up to the last block."
        ),
        detector=ran_out_of_programs,
    )


def tiles_missing(rows: str = "m", columns: str = "n") -> Misconception:
    """Return the misconception of a 2D grid that omits the last rows or columns."""
    return Misconception(
        code="grid-too-small",
        places=True,
        title="There was no program for the last rows or columns",
        message=(
            "No program stored the last rows or columns of the output. `//` rounds down and drops "
            "the last, partial tile, in the grid and in a loop."
        ),
        next_step=(
            f"Round up on both axes, `triton.cdiv({rows}, BLOCK_M)` and `triton.cdiv({columns}, "
            "BLOCK_N)`. Check that each mask and each `tl.program_id` uses its own axis. With "
            "flat offsets, count all elements: `x.numel()`."
        ),
        detector=ran_out_of_tiles,
    )


def axis_ignores_pid() -> Misconception:
    """Return the misconception of a 2D grid with an axis that no offset uses."""
    return Misconception(
        code="axis-ignores-pid",
        places=True,
        in_all_gaps=True,
        title="One axis stays on its first block",
        message=(
            "The grid has enough programs along both axes, but along one axis all programs work "
            "on the first block. Its offsets ignore the program id of that axis, or multiply it "
            "by the wrong block size."
        ),
        next_step=(
            "Rows: `tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)`. Columns: "
            "`tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)`."
        ),
        detector=stays_along_one_axis,
    )


def last_element_missed() -> Misconception:
    """Return the misconception of a mask that is too narrow by one on a flat output."""

    def detector(evidence: Evidence) -> bool:
        return stored_prefix(evidence) == evidence.expected.numel() - 1 and programs(evidence) > 0

    return Misconception(
        code="last-element-missed",
        places=True,
        title="The last element is missing",
        message=(
            "Only the last element is missing, because the mask stops one too early. The valid "
            "offsets are 0 to `n_elements - 1`, and `offsets < n_elements` already excludes "
            "`n_elements`."
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
            "`tl.program_id` and `tl.arange` are 32-bit integers, and so is their product with a "
            "small stride. Past 2**31 elements the product overflows and points *before* the "
            "tensor."
        ),
        next_step=(
            "Convert to 64 bits before you multiply: `row.to(tl.int64) * stride_row`, and the "
            "columns likewise. Converting the product is too late."
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
        title="The kernel assumes that the tensor is contiguous",
        message=(
            f"The kernel steps over {width} to the next row, or over 1 to the next column: "
            "correct only for a contiguous tensor. Here it reads elements that do not belong to "
            "the view (ghost data)."
        ),
        next_step=(
            "Pass `x.stride(0)` and `x.stride(1)` to the kernel, and compute each address as "
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
            f"{what} Programs run at the same time and in any order: the last store wins, and the "
            "work of the other programs is lost."
        ),
        next_step=(
            "Assign each output element to exactly one program. Where that is impossible, use "
            "`tl.atomic_add` on a zeroed float32 output."
        ),
        faults=RACES,
        detector=detector,
    )
