"""Causes that a kernel's text shows: what to look for, and what to say about it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from graders.judge.diagnosis import ast_patterns as marks
from graders.judge.diagnosis.failures import Failure
from graders.judge.diagnosis.generic import FindingText
from graders.judge.diagnosis.shapes import nan_result


def _any(failure: Failure) -> bool:
    return True


def _values(failure: Failure) -> bool:
    """Whether the kernel ran to its end, and computed wrong values."""
    return failure.wrong is not None


def _places(failure: Failure) -> bool:
    """Whether it left a tensor, or left out elements of the result."""
    never = failure.evidence.never_stored
    return failure.wrong is None or (never is not None and bool((never & failure.wrong).any()))


def _nan(failure: Failure) -> bool:
    """Whether the result is NaN where it should not be."""
    return failure.wrong is not None and nan_result(failure.evidence, failure.wrong)


@dataclass(frozen=True)
class Suspect:
    """A cause that the text shows. `find` returns its node in a kernel, or in any function.

    It explains a failing case only if that looks like its effect: `fits`.
    """

    code: str
    text: FindingText
    find: Callable[[ast.FunctionDef], Iterator[ast.AST]]
    fits: Callable[[Failure], bool] = _any
    in_launcher: bool = False


SUSPECTS = (
    Suspect(
        "pointers-not-put-back",
        FindingText(
            "The second loop begins where the first one ended",
            "The first loop moves its pointers along the row, and the second loop over the same "
            "row goes on from there. So it reads past the end of the row.",
            "Set the pointers to the start of the row again before the second loop, or compute "
            "the offsets of each step from the loop's counter.",
        ),
        marks.pointers_not_put_back,
    ),
    Suspect(
        "pointers-left-behind",
        FindingText(
            "In a loop some pointers advance and others do not",
            "Each step of the loop loads a new block through one tensor of pointers, but the same "
            "block again through another, which does not advance. Only the first step is correct.",
            "Advance every pointer that the loop loads or stores through, or compute the offsets "
            "of each step from the loop's counter.",
        ),
        marks.pointers_left_behind,
        _values,
    ),
    Suspect(
        "mask-not-turned",
        FindingText(
            "The block is transposed, but its mask is not",
            "The block is transposed after the load, but stored with the mask of the load. Its "
            "rows are columns now, so the mask selects the wrong lanes. Full tiles hide it.",
            "Use `tl.store(pointers, tl.trans(block), mask=tl.trans(mask))`, or build a mask from "
            "the rows and columns of the output.",
        ),
        marks.mask_not_turned,
    ),
    Suspect(
        "block-reduced",
        FindingText(
            "A block is reduced where its elements should be compared",
            "`tl.max(x, 0)` gives the largest element along axis 0: its 0 is an axis. "
            "`tl.maximum(x, 0.0)` compares each element with 0.",
            "Write tl.maximum(x, 0.0), or tl.where(x > 0, x, 0.0).",
        ),
        marks.largest_of_zero,
        _values,
    ),
    Suspect(
        "brackets-missing",
        FindingText(
            "Brackets are missing around the comparisons",
            "In Python `&` binds more tightly than `<`: `rows < n_rows & cols < n_cols` means "
            "`rows < (n_rows & cols) < n_cols`. That is not the mask that you meant.",
            "Put each comparison in brackets: "
            "`mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)`.",
        ),
        marks.unbracketed,
    ),
    Suspect(
        "mask-joined-by-or",
        FindingText(
            "The mask is true if only one of its conditions is true",
            "`|` means *or*: a lane past the last column stays active if its row exists. It reads "
            "memory that is not there, and stores over the next row or past the tensor.",
            "Both conditions must be true: `mask = (rows[:, None] < n_rows) & (cols[None, :] < "
            "n_cols)`.",
        ),
        marks.joined_by_or,
    ),
    Suspect(
        "chosen-by-product",
        FindingText(
            "An element is chosen by a product, and 0 * inf is NaN",
            "Each element is multiplied by 1 or 0, and the products are summed. That fails where "
            "an element is infinite, or the mask's `other` is -inf: 0 * -inf is NaN.",
            "Select before you sum, `tl.sum(tl.where(cols == target, x, 0.0))`, or load the one "
            "element by its address.",
        ),
        marks.chosen_by_product,
        _nan,
    ),
    Suspect(
        "pointer-cast",
        FindingText(
            "The pointers are converted to pointers to one dtype",
            "A pointer knows the dtype of its tensor. With `.to(tl.pointer_type(...))` the kernel "
            "reads every tensor as that dtype, whatever its elements are.",
            "Remove the conversion of the pointer. Convert the loaded value, `.to(tl.float32)`, "
            "and the stored value, `.to(output_ptr.dtype.element_ty)`.",
        ),
        marks.cast_pointers,
    ),
    Suspect(
        "counted-in-bytes",
        FindingText(
            "Offsets are counted in bytes",
            "The launcher multiplies by the size of an element in bytes. Triton knows the dtype "
            "of each pointer and counts in elements, as `x.stride()` does.",
            "Pass the strides as they are: x.stride(0), x.stride(1).",
        ),
        marks.counted_in_bytes,
        in_launcher=True,
    ),
    Suspect(
        "loop-rounds-down",
        FindingText(
            "A loop leaves out the block that is not full",
            "`//` rounds down: a loop over `n // BLOCK` blocks skips the last, partial block. A "
            "row shorter than a block is skipped entirely.",
            "Round up, `range(tl.cdiv(n, BLOCK))`, or step by blocks, `range(0, n, BLOCK)`, and "
            "mask the last block.",
        ),
        marks.floored_loops,
        _values,
    ),
    Suspect(
        "size-written-out",
        FindingText(
            "A size is hard-coded",
            "The kernel compares with a fixed number, so it works for inputs of one size only.",
            "Pass the size as an argument, `n_elements`, and compare with that.",
        ),
        marks.fixed_sizes,
        _places,
    ),
)
