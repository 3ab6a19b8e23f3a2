"""What mistakes leave behind: footprints and common misconceptions for exercise records.

A footprint looks at the evidence of one failing case and at nothing else, so that it holds
however the kernel is written; where a mistake depends on a block size, every power of two is
tried.

Several misconceptions may claim the same case (lanes outside a tensor have many causes); the
judge names the one that accounts for most of the failing cases, and among equals the one that
stands first in the record. So footprints claim what they *can* explain, and records list the
special before the general.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from graders.judge.compare import widened
from graders.judge.model import Evidence, Misconception

Footprint = Callable[[Evidence], bool]
Imitation = Callable[..., torch.Tensor | None]

OUT_OF_BOUNDS = frozenset(
    {"out-of-bounds-load", "out-of-bounds-store", "gap-read", "gap-store", "out-of-bounds-atomic"}
)
READS_OUTSIDE = frozenset({"out-of-bounds-load", "gap-read"})
RACES = frozenset({"write-race", "read-write-race", "order-dependent"})
BLOCK_SIZES = tuple(2**power for power in range(13))
"""The block sizes that are tried where a mistake depends on one."""


def close(actual: torch.Tensor, candidate: torch.Tensor) -> torch.Tensor:
    """Return where two results agree up to the rounding of `actual`'s dtype."""
    if not actual.is_floating_point():
        return actual == candidate
    tolerance = max(2 * torch.finfo(actual.dtype).eps, 1e-5)
    ours, theirs = actual.double(), candidate.to(actual.dtype).double()
    finite = theirs[theirs.isfinite()]
    scale = float(finite.abs().max()) if finite.numel() else 0.0
    return torch.isclose(ours, theirs, rtol=tolerance, atol=tolerance * scale, equal_nan=False)


def looks_like(evidence: Evidence, candidate: torch.Tensor | None) -> bool:
    """Tell whether the output is the candidate, and the candidate is not the right answer.

    NaN in the candidate stands for "anything"; something else must be left to recognise.
    """
    actual, expected = evidence.actual, evidence.expected
    if actual is None or candidate is None or candidate.shape != actual.shape:
        return False
    known = (
        ~candidate.isnan() if candidate.is_floating_point() else torch.ones_like(actual).bool()
    )
    if not known.any():
        return False
    rounded = candidate.to(actual.dtype)
    differs = ~close(expected.to(actual.dtype), rounded) & known
    return bool(differs.any()) and bool(close(actual, candidate)[known].all())


def computes(*candidates: Imitation) -> Footprint:
    """Return the footprint of an output that one of the candidates would have computed."""

    def footprint(evidence: Evidence) -> bool:
        args = widened(evidence.args)
        return any(looks_like(evidence, candidate(*args)) for candidate in candidates)

    return footprint


def computes_with_block(candidate: Imitation) -> Footprint:
    """Return the footprint of `candidate(block, *args)` for some power of two."""

    def footprint(evidence: Evidence) -> bool:
        args = widened(evidence.args)
        return any(looks_like(evidence, candidate(block, *args)) for block in BLOCK_SIZES)

    return footprint


def has_fault(evidence: Evidence, codes: frozenset[str]) -> bool:
    """Tell whether the engine saw one of these faults."""
    return any(fault.code in codes for fault in evidence.faults)


def tensors(evidence: Evidence) -> Iterator[torch.Tensor]:
    """Yield the tensor arguments of the case."""
    return (arg for arg in evidence.args if isinstance(arg, torch.Tensor))


def all_contiguous(evidence: Evidence) -> bool:
    """Tell whether every tensor argument of the case is contiguous."""
    return all(tensor.is_contiguous() for tensor in tensors(evidence))


def programs(evidence: Evidence) -> int:
    """Return how many programs the largest launch of the case had (0 without a launch)."""
    return max((math.prod(launch.grid) for launch in evidence.launches), default=0)


def stored_prefix(evidence: Evidence) -> int | None:
    """Return how many elements were stored if they are the first ones of the output.

    None where nothing is known, where everything was stored, or where the gaps lie elsewhere.
    """
    if evidence.never_stored is None or not evidence.never_stored.any():
        return None
    missing = evidence.never_stored.flatten()
    first = int(missing.to(torch.uint8).argmax())
    return first if bool(missing[first:].all()) else None


def stuck_on_first_block(evidence: Evidence) -> bool:
    """Tell whether there were just programs enough, and yet only one block was stored."""
    stored, count = stored_prefix(evidence), programs(evidence)
    if not stored or count < 2:
        return False
    return stored * (count - 1) < evidence.expected.numel() <= stored * count


def ran_out_of_programs(evidence: Evidence) -> bool:
    """Tell whether the end of the output is missing because no program was there for it."""
    stored = stored_prefix(evidence)
    if stored is None or stuck_on_first_block(evidence):
        return False
    return stored > 0 or programs(evidence) == 0


def stored_corner(evidence: Evidence) -> tuple[int, int] | None:
    """Return height and width of the upper left corner that was stored, and nothing else.

    None where all of a 2D output was stored, nothing, or some other pattern.
    """
    missing = evidence.never_stored
    if missing is None or missing.ndim != 2 or not missing.any() or missing.all():
        return None
    height, width = int((~missing).any(dim=1).sum()), int((~missing).any(dim=0).sum())
    whole = bool((~missing)[:height, :width].all())
    return (height, width) if whole and height * width == int((~missing).sum()) else None


def tiles_beyond(evidence: Evidence, corner: tuple[int, int]) -> int:
    """Return how many tiles of the size of `corner` cover the output."""
    rows, columns = evidence.expected.shape
    return math.ceil(rows / corner[0]) * math.ceil(columns / corner[1])


def stuck_on_first_tile(evidence: Evidence) -> bool:
    """Tell whether there were just programs enough, and yet only one tile (or block) came."""
    if stuck_on_first_block(evidence):
        return True
    corner = stored_corner(evidence)
    return corner is not None and programs(evidence) == tiles_beyond(evidence, corner) > 1


def ran_out_of_tiles(evidence: Evidence) -> bool:
    """Tell whether rows or columns at the end are missing for want of programs."""
    corner = stored_corner(evidence)
    if corner is not None:
        # With few tiles this looks the same as being stuck on the first one.
        return not stuck_on_first_tile(evidence) or tiles_beyond(evidence, corner) <= 4
    return ran_out_of_programs(evidence)


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
        count = evidence.expected.numel()
        # With an odd number of elements the missing one may be a block of its own.
        telling = count % 2 == 0 or (count == 1 and programs(evidence) > 0)
        return telling and stored_prefix(evidence) == count - 1

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
        footprint=lambda evidence: _reaches_far(evidence) and has_fault(evidence, OUT_OF_BOUNDS),
    )


def _reaches_far(evidence: Evidence) -> bool:
    """Tell whether some tensor has elements more than 2**31 elements from its first."""
    return any(
        sum((size - 1) * stride for size, stride in zip(t.shape, t.stride(), strict=True)) >= 2**31
        for t in tensors(evidence)
        if t.numel()
    )


def read_as(
    tensor: torch.Tensor, shape: tuple[int, ...], strides: tuple[int, ...]
) -> torch.Tensor | None:
    """Return what a kernel reads from `tensor` with other strides; None outside its storage."""
    if 0 in shape:
        return None
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    length = tensor.untyped_storage().nbytes() // tensor.itemsize
    if tensor.storage_offset() + last >= length:
        return None
    return tensor.as_strided(shape, strides)


def inputs_as_if_contiguous(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the arguments as a kernel reads them that takes every row to be dense.

    None where that would leave the storage, or where all of them are contiguous.
    """
    read = []
    for arg in args:
        if not isinstance(arg, torch.Tensor) or arg.is_contiguous():
            read.append(arg)
            continue
        dense = torch.empty(arg.shape, device="meta").stride()
        ghost = read_as(arg, tuple(arg.shape), dense)
        if ghost is None:
            return None
        read.append(ghost)
    changed = any(new is not old for new, old in zip(read, args, strict=True))
    return tuple(read) if changed else None


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


def programs_race(what: str) -> Misconception:
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
    )


def lossy_dtype() -> Misconception:
    """Return the misconception of a result that went through a half-precision format."""

    def footprint(evidence: Evidence) -> bool:
        actual = evidence.actual
        if actual is None or actual.dtype not in (torch.float32, torch.float64):
            return False
        finite = actual[actual.isfinite()]
        return finite.numel() > 1 and any(
            torch.equal(finite, finite.to(half).to(actual.dtype)) and bool(finite.any())
            for half in (torch.float16, torch.bfloat16)
        )

    return Misconception(
        code="lossy-dtype",
        title="The values went through half precision",
        message=(
            "Every number of the output is one that float16 (or bfloat16) can hold, although "
            "the tensors are float32. Somewhere on the way the values were rounded to 11 "
            "significant bits or fewer, and what is rounded away does not come back."
        ),
        next_step=(
            "Look for `tl.float16`, `tl.bfloat16` or `.half()` and for the dtype of every buffer "
            "that you allocate. Compute in float32, convert once, at the store, to the dtype "
            "of the output."
        ),
        footprint=footprint,
    )
