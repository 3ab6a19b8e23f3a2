"""Programs, masks and addresses at wrong places, distinguished by where the stores pointed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from graders.course.common import detectors, strays
from graders.course.common.detectors import stored_prefix
from graders.course.common.shared import offset_ignores_pid
from graders.judge.records import Evidence, Misconception

WIDEST_TILE = 256  # columns

START = (
    "Programs are counted from 0: program `pid` starts at `pid * BLOCK_SIZE`. Write down the "
    "offsets and the mask of programs 0 and 1 for a block of 4."
)


def _apart(wanted: Callable[[int, int], bool]) -> detectors.Detector:
    """Return the detector for a distance between neighbours, given the lanes of a block."""

    def detector(evidence: Evidence) -> bool:
        known = detectors.apart(evidence)
        return detectors.has_holes(evidence) and known is not None and wanted(*known)

    return detector


def _same_place(evidence: Evidence) -> bool:
    if detectors.apart(evidence) is None:
        return detectors.stuck_on_first_tile(evidence)
    return _apart(lambda distance, _: distance == 0)(evidence)


def misplaced_programs() -> tuple[Misconception, ...]:
    """Return the misconceptions of programs that start at wrong places.

    The distance between programs distinguishes them. If that is not known, only the last one can
    match; its words cover all of them.
    """
    ignored = replace(
        offset_ignores_pid(),
        message=(
            "The launch had enough programs, but each of them worked on the first block: the "
            "offsets of the store do not depend on `tl.program_id`."
        ),
        next_step=START,
        detector=_same_place,
    )
    return ARANGE_MISSING, STARTS_LATE, SHARE_ROUNDED_DOWN, TOO_FAR_APART, TOO_CLOSE, ignored


ARANGE_MISSING = Misconception(
    code="arange-missing",
    places=True,
    title="Each program stores one element, not a block",
    message=(
        "`pid * BLOCK_SIZE` is one number: the offset of the block's first element. The other "
        "elements of the block are missing."
    ),
    next_step="Add the lanes: `offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)`.",
    detector=detectors.stores_single_elements,
)
STARTS_LATE = Misconception(
    code="first-elements-missed",
    places=True,
    title="The first program starts too late",
    message=(
        "Program 0 does not start at offset 0, so the first elements are never stored. `(pid + 1) "
        "* BLOCK_SIZE`, `pid + BLOCK_SIZE` and `tl.arange(1, ...)` do that, and so does "
        "`tl.num_programs(0)` in place of the program id."
    ),
    next_step=START,
    detector=detectors.starts_late,
)
TOO_FAR_APART = Misconception(
    code="programs-too-far-apart",
    places=True,
    title="The programs start too far apart",
    message=(
        "Program 1 starts more than one block after program 0, so the elements between are never "
        "stored. `pid * n_elements` and `pid * BLOCK_SIZE * 4` do that: a pointer counts "
        "elements, not bytes."
    ),
    next_step=START,
    detector=_apart(lambda distance, lanes: distance > lanes),
)
TOO_CLOSE = Misconception(
    code="programs-too-close",
    places=True,
    title="The programs start too close to each other",
    message=(
        "Each program starts before the previous program's block ends, so the last elements are "
        "never stored. `pid + tl.arange(0, BLOCK_SIZE)` does that: it moves by one *element*, not "
        "by a block."
    ),
    next_step=START,
    detector=_apart(lambda distance, lanes: 0 < distance < lanes),
)


def _share_rounded_down(evidence: Evidence) -> bool:
    """Whether each program stored n // programs elements, and the rest is missing."""
    count, found = detectors.programs(evidence), detectors.aim(evidence)
    if count < 2 or found is None or evidence.expected.dim() != 1:
        return False
    if found.storing != count:
        return False
    share = found.elements // count
    one_block = share == found.lanes  # then the grid was rounded down instead
    return not one_block and detectors.stored_prefix(evidence) == share * count > 0


SHARE_ROUNDED_DOWN = Misconception(
    code="share-rounded-down",
    places=True,
    title="The share of each program is rounded down",
    message=(
        "Every program stored the same number of elements, and the last few were never stored: "
        "`n_elements // programs` rounds down, and no program handles the remainder."
    ),
    next_step=(
        "Round up, `triton.cdiv(n_elements, programs)`, and mask the lanes past the end. Or let "
        "program `pid` loop over `range(pid * BLOCK_SIZE, n_elements, programs * BLOCK_SIZE)`."
    ),
    detector=_share_rounded_down,
    rules_out=frozenset({"mask-too-narrow", "programs-too-close"}),
)


def _strays_and_leaves_holes(evidence: Evidence) -> bool:
    """Return whether stores aim outside the output and miss some of its elements, before masking.

    With a program for each tile that means wrong addresses: if only a mask were missing, the
    stores would aim at every element.
    """
    found = detectors.aim(evidence)
    if found is None or found.reached is None or not detectors.has_holes(evidence):
        return False
    strays = detectors.has_fault(evidence, frozenset({"out-of-bounds-store"}))
    short = found.reached < found.elements
    return strays and short and detectors.has_a_program_for_each_tile(evidence)


def address_stretched() -> Misconception:
    """Return the misconception of offsets that are correct in the mask but not in the address."""
    return Misconception(
        code="address-stretched",
        places=True,
        title="The addresses reach further than the offsets of the mask",
        message=(
            "Some lanes point outside the tensor, although the mask is not too wide. So the "
            "pointer gets another offset than the mask compares: perhaps one multiplied by 4, or "
            "with the block's start added twice."
        ),
        next_step=(
            "Add the offsets that the mask compares to the pointer: `x_ptr + offsets`. A pointer "
            "counts elements, not bytes."
        ),
        detector=detectors.either(strays.strays_though_masked, _strays_and_leaves_holes),
        rules_out=frozenset({"missing-mask"}),
    )


def starts_before_tensor() -> Misconception:
    """Return the misconception of offsets below zero, which no `offsets < n` stops."""
    return Misconception(
        code="starts-before-tensor",
        places=True,
        title="The first lanes are before the tensor",
        message=(
            "Some offsets are negative: they point to memory before the first element. A mask "
            "`offsets < n` does not stop them, because a negative number is smaller than n."
        ),
        next_step=(
            "`tl.program_id` counts from 0, so use `pid` itself, not `pid - 1`, and look for "
            "anything else that is subtracted from an offset."
        ),
        detector=strays.starts_before_tensor,
    )


def mask_too_narrow(bound: str = "n_elements") -> Misconception:
    """Return the misconception of a mask that is false for elements that exist.

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
            "The programs reach every element, but the mask is false for some of them, and a "
            "masked-off lane stores nothing. The mask compares the wrong index, size or value, or "
            "in the wrong direction (`>` for `<`)."
        ),
        next_step=(
            f"Make the mask true for all elements: {right}. Check it for the first missing element."
        ),
        detector=lambda evidence: detectors.has_holes(evidence) and detectors.came_to_all(evidence),
    )


def _stored_up_to_the_other_size(evidence: Evidence) -> bool:
    """Return whether rows are stored up to the number of columns, and columns up to that of rows.

    In a tall matrix the lanes past the end of a row are in the next row, so a few more elements
    may follow the last stored row.
    """
    missing, shape = evidence.never_stored, evidence.expected.shape
    if missing is None or len(shape) != 2 or shape[0] == shape[1]:
        return False
    rows, columns = shape
    if rows < columns:
        stored = torch.arange(columns).expand(rows, columns) < rows
        return torch.equal(~missing, stored)
    prefix = stored_prefix(evidence)
    return prefix is not None and columns**2 <= prefix <= columns**2 + WIDEST_TILE


def mask_sizes_exchanged(rows: str, columns: str) -> Misconception:
    """Return the misconception of a mask that compares each index with the size of the other."""

    def detector(evidence: Evidence) -> bool:
        return detectors.came_to_all(evidence) and _stored_up_to_the_other_size(evidence)

    return Misconception(
        code="mask-sizes-exchanged",
        places=True,
        title="The mask compares each index with the size of the other axis",
        message=(
            f"Rows are stored only up to `{columns}`, and columns only up to `{rows}`: the two "
            "sizes in the mask are exchanged. Square matrices hide it."
        ),
        next_step=f"Compare `rows[:, None] < {rows}` and `cols[None, :] < {columns}`.",
        detector=detector,
        rules_out=frozenset({"missing-mask", "mask-too-narrow"}),
    )


def rows_for_elements() -> Misconception:
    """Return the misconception of one size of a matrix used as the number of all elements."""

    def detector(evidence: Evidence) -> bool:
        x = next(detectors.tensors(evidence))
        if x.dim() != 2 or min(x.shape) < 2 or x.shape[0] == x.shape[1]:
            return False
        return detectors.stored_prefix(evidence) in (x.shape[0], sum(x.shape))

    return Misconception(
        code="rows-for-elements",
        places=True,
        title="The rows were counted, not the elements",
        message=(
            "The kernel stored exactly as many elements as x has rows (or rows plus columns). "
            "`len(x)` and `x.shape[0]` count *rows*, but a flat offset counts elements: rows "
            "times columns."
        ),
        next_step=(
            "Use `x.numel()`, or `n_rows * n_cols`, for the grid and for the mask of a flat offset."
        ),
        detector=detector,
        rules_out=frozenset({"mask-too-narrow", "grid-too-small"}),
    )
