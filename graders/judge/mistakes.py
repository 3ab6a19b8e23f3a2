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
    either,
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
            "that is too wide does the same: `<=` for `<`, the bound of the other axis, a mask "
            "of the columns alone, or the number of the lane in place of its offset."
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
        footprint=stuck_on_first_tile,
    )


def grid_too_small(size: str = "n_elements") -> Misconception:
    """Return the misconception of a grid that leaves the tail of a flat output out."""
    return Misconception(
        code="grid-too-small",
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
        footprint=ran_out_of_programs,
    )


def tiles_missing(rows: str = "m", columns: str = "n") -> Misconception:
    """Return the misconception of a 2D grid that leaves the last rows or columns out."""
    return Misconception(
        code="grid-too-small",
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
        return any(
            looks_like(evidence, reference(*widened(read)))
            for read in inputs_as_if_contiguous(evidence.args)
        )

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


def _went_through_half(reference: Imitation | None = None) -> Footprint:
    """The footprint of values (or of the inputs of `reference`) rounded to 16 bits."""

    def footprint(evidence: Evidence) -> bool:
        actual = evidence.actual
        if actual is None or actual.dtype not in (torch.float32, torch.float64):
            return False
        if torch.equal(actual, evidence.expected.to(actual.dtype)):
            return False
        finite = actual[actual.isfinite()]
        return finite.numel() > 1 and any(
            (_is_rounded(finite, half) and _nearly(actual, evidence.expected))
            or (reference is not None and looks_like(evidence, reference(*rounded(half, evidence))))
            for half in (torch.float16, torch.bfloat16)
        )

    return footprint


def lossy_dtype(reference: Imitation | None = None) -> Misconception:
    """Return the misconception of values that went through a half-precision format.

    With a reference it is also recognised where only the inputs were rounded.
    """
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
        footprint=_went_through_half(reference),
    )


def _is_rounded(values: torch.Tensor, half: torch.dtype) -> bool:
    """Whether all values are numbers of a 16-bit format, and not all of them zero."""
    return torch.equal(values, values.to(half).to(values.dtype)) and bool(values.any())


def _nearly(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether the output is the right one but for rounding: whole numbers fit any format."""
    known = actual.isfinite() & expected.isfinite()
    got, want = actual[known].double(), expected[known].double()
    if torch.equal(got, want):
        return False
    scale = float(want.abs().max()) if want.numel() else 0.0
    return bool(((got - want).abs() <= 2.0**-5 * (want.abs() + 0.125 * scale)).all())


def lossy_copy() -> Misconception:
    """Return the misconception of a copy by way of a format that cannot hold it all."""
    formats = (torch.float32, torch.float16, torch.bfloat16, torch.int32)

    def footprint(evidence: Evidence) -> bool:
        actual, want = evidence.actual, evidence.expected
        if actual is None or actual.dtype != want.dtype:
            return False
        on_the_way = (want.to(format_).to(want.dtype) for format_ in formats)
        return any(
            torch.equal(actual.double(), lost.double())
            and not torch.equal(lost.double(), want.double())
            for lost in on_the_way
        )

    return Misconception(
        code="lossy-dtype",
        title="The copy changes values on the way",
        message=(
            "The elements went through another format, float32 or one with fewer digits. Large "
            "integers and float64 numbers have more digits than it can hold, and integers hold "
            "no fractions. A copy must be bit for bit the same."
        ),
        next_step=(
            "Store what you loaded, without any `.to(...)` or arithmetic, into an output of "
            "x.dtype."
        ),
        footprint=either(footprint, _went_through_half()),
    )


def accumulates_in_half(magnitude: Callable[..., torch.Tensor]) -> Misconception:
    """Return the misconception of a sum kept in float16 or bfloat16.

    `magnitude(*args)` is the sum of the absolute values of the terms.
    """

    def footprint(evidence: Evidence) -> bool:
        return _nearly_in_half(evidence, magnitude)

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


def computes_in_half(magnitude: Callable[..., torch.Tensor]) -> Misconception:
    """Return the misconception of arithmetic in float16 or bfloat16 before the last store.

    `magnitude(*args)` is how large the numbers are that make up each element.
    """

    def footprint(evidence: Evidence) -> bool:
        return _nearly_in_half(evidence, magnitude)

    return Misconception(
        code="computes-in-half",
        title="Part of the arithmetic ran in half precision",
        message=(
            "The output is nearly right, but further off than one rounding explains: a number on "
            "the way was rounded to the 11 bits of float16 (8 of bfloat16). What tl.load brings "
            "has the dtype of the tensor, and so has what is computed with it; a scratch buffer "
            "in that dtype rounds as well."
        ),
        next_step=(
            "Convert right after the load, `tl.load(...).to(tl.float32)`, keep scratch buffers in "
            "torch.float32, and round once, at the store of the output."
        ),
        footprint=footprint,
    )


def _nearly_in_half(evidence: Evidence, magnitude: Callable[..., torch.Tensor]) -> bool:
    """Whether a half-precision output is off by no more than a few of its roundings."""
    actual = evidence.actual
    if actual is None or actual.dtype not in (torch.float16, torch.bfloat16):
        return False
    room = 4 * torch.finfo(actual.dtype).eps * magnitude(*widened(evidence.args))
    error = (actual.double() - evidence.expected.double()).abs()
    return bool((error <= room).all())


def tf32_product(magnitude: Callable[..., torch.Tensor]) -> Misconception:
    """Return the misconception of float32 inputs rounded to TF32 by the tensor cores."""

    def footprint(evidence: Evidence) -> bool:
        actual = evidence.actual
        if actual is None or actual.dtype != torch.float32:
            return False
        size = magnitude(*widened(evidence.args))
        error = (actual.double() - evidence.expected.double()).abs()
        off = error > 2.0**-18 * size  # far more than float32 rounds, in most of the elements
        alive = int((evidence.expected != 0).sum())  # a ReLU makes the others right
        return bool((error <= 2.0**-9 * size).all()) and int(off.sum()) * 2 > alive

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
