"""Misconceptions that many exercises share, with words that fit each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from graders.judge.compare import widened
from graders.judge.footprints import (
    OUT_OF_BOUNDS,
    RACES,
    READS_OUTSIDE,
    Footprint,
    Imitation,
    all_contiguous,
    has_fault,
    inputs_as_if_contiguous,
    looks_like,
    programs,
    ran_out_of_programs,
    ran_out_of_tiles,
    reaches_far,
    stored_prefix,
    stuck_on_first_tile,
)
from graders.judge.model import Evidence, Misconception


def missing_mask(what: str, bound: str = "n_elements") -> Misconception:
    """Return the misconception of lanes that leave the tensor. `what` is loaded or stored."""
    return Misconception(
        code="missing-mask",
        title="Some lanes of the last block lie outside the tensor",
        message=(
            f"A block always has all its lanes, but {what} rarely ends exactly where a block "
            "ends. The lanes that stick out touched memory that is not yours. On a GPU that "
            "reads rubbish or overwrites somebody else's data, often without any error. A mask "
            "that is too wide (`<=` for `<`, or the bound of the other axis) does the same."
        ),
        next_step=(
            f"Build the mask by comparing the offsets with `{bound}` (strictly smaller), and "
            "give it to *every* `tl.load` and `tl.store` of the kernel."
        ),
        faults=OUT_OF_BOUNDS,
    )


def offset_ignores_pid() -> Misconception:
    """Return the misconception that leaves all programs on the first block."""
    return Misconception(
        code="offset-ignores-pid",
        title="Only the first block was computed",
        message=(
            "The launch had programs enough for all elements, but only one block arrived. "
            "Either every program works on the first block, because its offsets do not depend "
            "on `tl.program_id`, or the programs start too far apart, for instance at "
            "`pid * n_elements`, where the mask rightly silences them."
        ),
        next_step=(
            "Program number `pid` starts where `pid` blocks have gone before it: at "
            "`pid * BLOCK_SIZE`. Write down the offsets of program 1 for a block of 4."
        ),
        footprint=stuck_on_first_tile,
    )


def grid_too_small(size: str = "n_elements") -> Misconception:
    """Return the misconception of a grid that leaves the tail of a flat output out."""
    return Misconception(
        code="grid-too-small",
        title="There was no program for the last elements",
        message=(
            "The end of the output was never stored: the grid has fewer programs than it takes. "
            f"`{size} // BLOCK_SIZE` rounds down and forgets the block that is not full, and "
            "a fixed number of programs suits only one size."
        ),
        next_step=f"Round up: `grid = (triton.cdiv({size}, BLOCK_SIZE),)`.",
        footprint=ran_out_of_programs,
    )


def tiles_missing(rows: str = "m", columns: str = "n") -> Misconception:
    """Return the misconception of a 2D grid that leaves the last rows or columns out."""
    return Misconception(
        code="grid-too-small",
        title="There was no program for the last rows or columns",
        message=(
            "Whole rows or columns at the end of the output were never stored: the grid has "
            "too few programs along one axis. `//` rounds down and forgets the tile that is "
            "not full; a fixed block covers only so many columns; and a grid whose two axes "
            "are exchanged fits square matrices only."
        ),
        next_step=(
            f"Round up on both axes, `triton.cdiv({rows}, BLOCK_M)` and "
            f"`triton.cdiv({columns}, BLOCK_N)`, and check that the axis of `tl.program_id` "
            "matches the place in the grid."
        ),
        footprint=ran_out_of_tiles,
    )


def last_element_missed() -> Misconception:
    """Return the misconception of a mask that is one too narrow on a flat output."""

    def footprint(evidence: Evidence) -> bool:
        return stored_prefix(evidence) == evidence.expected.numel() - 1 and programs(evidence) > 0

    return Misconception(
        code="last-element-missed",
        title="The last element is missing",
        message=(
            "All but the very last element is there. The mask stops one too early: with "
            "`n_elements` elements the valid offsets are 0 to `n_elements - 1`, and "
            "`offsets < n_elements` already leaves `n_elements` out."
        ),
        next_step="Compare with `n_elements` itself, not with `n_elements - 1`.",
        footprint=footprint,
    )


def offset_in_32_bits() -> Misconception:
    """Return the misconception of offsets that overflow 32 bits."""
    return Misconception(
        code="offset-in-32-bits",
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
        footprint=lambda evidence: reaches_far(evidence) and has_fault(evidence, OUT_OF_BOUNDS),
    )


def contiguous_assumed(reference: Imitation, width: str = "the width") -> Misconception:
    """Return the misconception of the stride trap: stride = width, whatever the view."""

    def footprint(evidence: Evidence) -> bool:
        if all_contiguous(evidence):
            return False
        if has_fault(evidence, READS_OUTSIDE):
            return True
        read = inputs_as_if_contiguous(evidence.args)
        return read is not None and looks_like(evidence, reference(*widened(read)))

    return Misconception(
        code="contiguous-assumed",
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
        footprint=footprint,
    )


def programs_race(what: str, footprint: Footprint | None = None) -> Misconception:
    """Return the misconception of several programs that store to the same elements."""
    return Misconception(
        code="programs-race",
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
        footprint=footprint,
    )


def rounded(dtype: torch.dtype, evidence: Evidence) -> tuple[Any, ...]:
    """Return the arguments in float64, after they have been rounded to `dtype`."""
    return tuple(
        arg.to(dtype).double() if isinstance(arg, torch.Tensor) and arg.is_floating_point() else arg
        for arg in evidence.args
    )


def lossy_dtype(reference: Imitation | None = None) -> Misconception:
    """Return the misconception of values that went through a half-precision format.

    With a reference it is also recognised where only the inputs were rounded.
    """

    def footprint(evidence: Evidence) -> bool:
        actual = evidence.actual
        if actual is None or actual.dtype not in (torch.float32, torch.float64):
            return False
        if torch.equal(actual, evidence.expected.to(actual.dtype)):
            return False
        finite = actual[actual.isfinite()]
        return finite.numel() > 1 and any(
            (torch.equal(finite, finite.to(half).to(actual.dtype)) and bool(finite.any()))
            or (reference is not None and looks_like(evidence, reference(*rounded(half, evidence))))
            for half in (torch.float16, torch.bfloat16)
        )

    return Misconception(
        code="lossy-dtype",
        title="The values went through half precision",
        message=(
            "The numbers look as if they had been rounded to float16 (or bfloat16) on the way, "
            "although the tensors are float32: 11 significant bits or fewer are left of 24, and "
            "what is rounded away does not come back."
        ),
        next_step=(
            "Look for `tl.float16`, `tl.bfloat16` or `.half()` and for the dtype of every buffer "
            "that you allocate. Compute in float32, convert once, at the store, to the dtype "
            "of the output."
        ),
        footprint=footprint,
    )


def lossy_copy() -> Misconception:
    """Return the misconception of a copy `copy(x)` by way of a format that cannot hold it all."""
    return Misconception(
        code="lossy-dtype",
        title="The copy changes values on the way",
        message=(
            "The elements went through float32 (or a smaller format). Large integers and "
            "float64 numbers have more digits than it can hold. A copy must be bit for bit "
            "the same."
        ),
        next_step="Store what you loaded, without any `.to(...)`, into an output of x.dtype.",
        imitate=lambda x: x.to(torch.float32).to(x.dtype),
        footprint=lossy_dtype().footprint,
    )


def accumulates_in_half(magnitude: Callable[..., torch.Tensor]) -> Misconception:
    """Return the misconception of a sum kept in float16 or bfloat16.

    `magnitude(*args)` is the sum of the absolute values of the terms.
    """

    def footprint(evidence: Evidence) -> bool:
        actual = evidence.actual
        if actual is None or actual.dtype not in (torch.float16, torch.bfloat16):
            return False
        room = 4 * torch.finfo(actual.dtype).eps * magnitude(*widened(evidence.args))
        error = (actual.double() - evidence.expected.double()).abs()
        return bool((error <= room).all())

    return Misconception(
        code="accumulates-in-half",
        title="The sum is kept in half precision",
        message=(
            "The output is nearly right, and the longer the sum the worse it gets: after every "
            "step the accumulator was rounded to the 11 bits of float16 (8 of bfloat16), so "
            "small products added to a large sum vanish. Here large terms cancel, and what is "
            "left of the sum is mostly rounding error."
        ),
        next_step=(
            "Accumulate in float32, `tl.zeros(..., dtype=tl.float32)`, whatever the dtype of the "
            "inputs, and convert once, at the store."
        ),
        footprint=footprint,
    )


def tf32_product(magnitude: Callable[..., torch.Tensor]) -> Misconception:
    """Return the misconception of float32 inputs rounded to TF32 by the tensor cores."""

    def footprint(evidence: Evidence) -> bool:
        actual = evidence.actual
        if actual is None or actual.dtype != torch.float32:
            return False
        room = 2.0**-9 * magnitude(*widened(evidence.args))
        error = (actual.double() - evidence.expected.double()).abs()
        return bool((error <= room).all())

    return Misconception(
        code="tf32-product",
        title="The float32 inputs were rounded to TF32",
        message=(
            "The product is right to about three decimal digits only. For float32 `tl.dot` uses "
            "the tensor cores by default, which round both inputs to TF32: 10 bits of mantissa "
            "instead of 23. The contract asks for float32 accuracy."
        ),
        next_step='Say so: `tl.dot(a, b, acc, input_precision="ieee")`.',
        footprint=footprint,
    )
