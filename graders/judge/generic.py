"""Mistakes that every exercise knows: recognised by pattern or by engine fault, as data.

An exercise's own misconception, where one matches, is named before any of these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from graders.judge.model import Evidence


@dataclass(frozen=True)
class Words:
    """Title, explanation and next step of a generic finding."""

    title: str
    message: str
    next_step: str


FAULTS = {
    "out-of-bounds-load": Words(
        "The kernel reads outside a tensor",
        "On a GPU such a read returns somebody else's data, or stops the program.",
        "Guard the load with a mask that is true only for offsets inside the tensor.",
    ),
    "out-of-bounds-store": Words(
        "The kernel writes outside a tensor",
        "On a GPU such a write corrupts memory that belongs to something else.",
        "Guard the store with a mask that is true only for offsets inside the tensor.",
    ),
    "out-of-bounds-atomic": Words(
        "An atomic operation reaches outside a tensor",
        "On a GPU it would change memory that belongs to something else.",
        "Guard the atomic with a mask that is true only for offsets inside the tensor.",
    ),
    "gap-read": Words(
        "The kernel reads elements that are not part of the view",
        "A sliced or stepped view has gaps between its rows. The pointer arithmetic walks "
        "through them as if they were data.",
        "Pass the strides of the tensor to the kernel: base + i * stride_m + j * stride_n.",
    ),
    "gap-store": Words(
        "The kernel writes into the gaps of a view",
        "Those elements belong to the larger tensor behind the view, not to this argument.",
        "Use the strides of the tensor that you write to.",
    ),
    "write-race": Words(
        "Two programs write different values to one element",
        "Programs run in no particular order on a GPU: whichever comes last wins.",
        "Give each output element to exactly one program, or combine with tl.atomic_add.",
    ),
    "lane-race": Words(
        "Two lanes of one store hit the same element with different values",
        "All lanes of a block store at the same time: which value stays is chance on a GPU.",
        "Print the offsets of one block: each lane must have an element of its own.",
    ),
    "read-write-race": Words(
        "A program reads what another program writes",
        "Nothing says which of the two comes first, so the result changes from run to run.",
        "Read only from inputs, or split the work into two kernel launches.",
    ),
    "order-dependent": Words(
        "The result depends on the order in which programs run",
        "The judge ran the programs in another order and got another result.",
        "Make each program independent of what the others have done.",
    ),
    "uninitialised-read": Words(
        "The kernel reads memory that nobody has written",
        "Memory from torch.empty holds whatever was there before.",
        "Start from torch.zeros, or store before you load.",
    ),
    "masked-lanes-used": Words(
        "Masked-off lanes leak into the result",
        "A load with a mask and no `other` leaves the masked lanes undefined, and the "
        "kernel goes on computing with them.",
        "Give tl.load an `other` that is neutral: 0 for sums, -inf for maxima.",
    ),
    "offset-overflow": Words(
        "An offset does not fit in 32 bits",
        "Offsets beyond 2**31 wrap around to negative numbers in int32.",
        "Convert the index to 64 bits before you multiply: row.to(tl.int64) * stride.",
    ),
    "device-assert": Words(
        "A tl.device_assert in the kernel failed",
        "The condition that you wrote down does not hold for this input.",
        "Print the values with print_if, or run the case in a notebook and look at them.",
    ),
    "kernel-error": Words(
        "The kernel stops with an error",
        "The line below could not be executed.",
        "Mend the line and check again.",
    ),
}

OUTCOMES = {
    "timeout": Words(
        "The kernel does not come to an end",
        "The judge stopped it at the time limit. A loop whose end never comes is the usual "
        "cause; very few programs that go through a large input in small blocks are another.",
        "Look at the loop's bounds and step: does the counter change, does it reach the end, and "
        "how often does it run for a million elements?",
    ),
    "crashed": Words(
        "The process that ran the submission crashed",
        "A signal of the operating system ended it, or the GPU did, usually after it had touched "
        "memory that it does not own.",
        "Check every offset against the size of its tensor.",
    ),
    "exited": Words(
        "The submission ended its process",
        "A kernel or launcher must return its result and nothing else.",
        "Remove the call that ends the program.",
    ),
    "out-of-memory": Words(
        "The submission asked for too much memory",
        "It needs far more than its inputs and outputs do.",
        "Look at the shapes that you allocate and at the block sizes.",
    ),
    "silenced": Words(
        "The result is there although no kernel ran",
        "The judge ran the launcher on the GPU once more with every launch silenced, and the "
        "result was right all the same: something else than your kernel computes it.",
        "Let the launcher allocate the output and launch; all arithmetic belongs to the kernel.",
    ),
    "inputs-changed": Words(
        "An input was changed",
        "The launcher must leave its arguments as they were: somebody still needs them.",
        "Allocate the output with torch.empty and store only to it. (Are the arguments of the "
        "launch in the order of the kernel's parameters?)",
    ),
}


@dataclass(frozen=True)
class Pattern:
    """A wrong result with a shape that tells its cause. `shows(evidence, wrong)` decides."""

    code: str
    words: Words
    shows: Callable[[Evidence, torch.Tensor], bool]


def _stored(evidence: Evidence) -> torch.Tensor | None:
    """Which elements a kernel stored, flattened; None when all of them were or nobody knows."""
    if evidence.never_stored is None or not bool(evidence.never_stored.any()):
        return None
    return ~evidence.never_stored.reshape(-1)


def _nothing_stored(evidence: Evidence, wrong: torch.Tensor) -> bool:
    stored = _stored(evidence)
    return stored is not None and not bool(stored.any())


def _first_row_only(evidence: Evidence, wrong: torch.Tensor) -> bool:
    if evidence.never_stored is None or evidence.expected.dim() < 2:
        return False
    rows = ~evidence.never_stored.reshape(evidence.expected.shape[0], -1)
    return rows.shape[0] > 1 and bool(rows[0].all()) and not bool(rows[1:].any())


def _prefix_only(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Stored from the start up to one point, nothing after it: one block, or too few."""
    stored = _stored(evidence)
    if stored is None or not bool(stored[0]):
        return False
    return int(stored.sum()) == int(stored.int().argmin())


def _suffix_only(evidence: Evidence, wrong: torch.Tensor) -> bool:
    stored = _stored(evidence)
    if stored is None or not bool(stored[-1]):
        return False
    return int(stored.sum()) == int(stored.flip(0).int().argmin())


def _never_stored(evidence: Evidence, wrong: torch.Tensor) -> bool:
    return _stored(evidence) is not None


def _same(actual: torch.Tensor, other: torch.Tensor) -> bool:
    if actual.shape != other.shape or actual.numel() < 3:
        return False
    got, want = actual.double(), other.double()
    finite = want[want.isfinite()]
    scale = float(finite.abs().max()) if finite.numel() else 0.0
    return torch.allclose(got, want, rtol=1e-2, atol=1e-6 * scale, equal_nan=True)


def _all_zeros(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual = evidence.actual
    return actual is not None and actual.numel() > 1 and not bool(actual.any())


def _input_returned(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual = evidence.actual
    tensors = [arg for arg in evidence.args if isinstance(arg, torch.Tensor)]
    return actual is not None and any(_same(actual, tensor) for tensor in tensors)


def _transposed(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual, expected = evidence.actual, evidence.expected
    if actual is None or expected.dim() != 2 or min(expected.shape) < 2:
        return False
    flipped = expected.T.contiguous().reshape(expected.shape)
    return _same(actual, flipped) and not _same(flipped, expected)


def _shifted(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual, expected = evidence.actual, evidence.expected.reshape(-1)
    if actual is None or expected.numel() < 4:
        return False
    flat = actual.reshape(-1)
    return _same(flat[1:], expected[:-1]) or _same(flat[:-1], expected[1:])


def _offsets_stored(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual = evidence.actual
    if actual is None or actual.numel() < 3:
        return False
    counted = torch.arange(actual.numel(), dtype=torch.float64).to(actual.dtype)
    return torch.equal(actual.reshape(-1), counted)


def _not_written(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Nothing but the judge's poison, in memory that no kernel was given."""
    actual = evidence.actual
    if actual is None or evidence.never_stored is not None or not actual.numel():
        return False
    if actual.is_floating_point():
        return bool(actual.isnan().all()) and not bool(evidence.expected.isnan().all())
    return actual.dtype != torch.bool and bool((actual == torch.iinfo(actual.dtype).max).all())


def _nearly_right(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual, expected = evidence.actual, evidence.expected
    if actual is None or not actual.is_floating_point() or actual.numel() < 3:
        return False
    got, want = actual.double(), expected.double()
    if not bool((got.isfinite() == want.isfinite()).all()):
        return False
    known = want.isfinite()
    got, want = got[known], want[known]
    scale = float(want.abs().max()) if want.numel() else 0.0
    return bool(((got - want).abs() <= 0.01 * (want.abs() + 0.1 * scale)).all())


def _nan_result(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual = evidence.actual
    if actual is None or not actual.is_floating_point():
        return False
    return bool((actual.isnan() & ~evidence.expected.isnan()).any())


PATTERNS = (
    Pattern(
        "nothing-written",
        Words(
            "No kernel got the tensor that is returned",
            "The launcher returns memory as torch.empty left it: for this input no kernel was "
            "launched, or the one that ran stored into another tensor, whose contents are lost.",
            "Hand the tensor that you return to the launch, and launch for every size.",
        ),
        _not_written,
    ),
    Pattern(
        "nothing-stored",
        Words(
            "No program stored anything",
            "The output is exactly as it was allocated.",
            "End the kernel with tl.store(output_ptr + offsets, value, mask=mask), and launch it.",
        ),
        _nothing_stored,
    ),
    Pattern(
        "first-row-only",
        Words(
            "Only the first row was written",
            "Every program works on row 0, or there is only one program.",
            "Let each program find its own row: row = tl.program_id(0).",
        ),
        _first_row_only,
    ),
    Pattern(
        "first-block-only",
        Words(
            "Only the beginning of the output was written",
            "The first elements are there and the rest was never stored: the programs all work "
            "on the same block, or the grid has too few programs.",
            "Check that offsets start at program_id * BLOCK_SIZE and that the grid rounds up "
            "(triton.cdiv).",
        ),
        _prefix_only,
    ),
    Pattern(
        "last-block-only",
        Words(
            "Only the end of the output was written",
            "The last elements are there and the ones before them were never stored.",
            "Look at how a program finds its first element.",
        ),
        _suffix_only,
    ),
    Pattern(
        "never-stored",
        Words(
            "Some elements were never written",
            "They still hold whatever was in memory before.",
            "Follow one missing element: which program should store it, and does its mask let it?",
        ),
        _never_stored,
    ),
    Pattern(
        "all-zeros",
        Words(
            "The result is zero everywhere",
            "The values were stored, but they are all zero.",
            "Print one loaded block with print_if: is it what you expect?",
        ),
        _all_zeros,
    ),
    Pattern(
        "offsets-stored",
        Words(
            "The offsets were stored, not the values",
            "The output is 0, 1, 2, 3 and so on: the numbers of its own elements.",
            "Hand the block of values to tl.store; the offsets belong into its pointers.",
        ),
        _offsets_stored,
    ),
    Pattern(
        "input-returned",
        Words(
            "The result is one of the inputs, unchanged",
            "The kernel copies an input instead of computing with it.",
            "Look at the value that tl.store receives.",
        ),
        _input_returned,
    ),
    Pattern(
        "transposed-result",
        Words(
            "Rows and columns are exchanged",
            "The values are right but stand where the transposed matrix would have them.",
            "Check which index goes with which stride in the store.",
        ),
        _transposed,
    ),
    Pattern(
        "shifted-by-one",
        Words(
            "Everything is one element off",
            "The output equals the right answer, moved by one place.",
            "Look at where the offsets start.",
        ),
        _shifted,
    ),
    Pattern(
        "nan-result",
        Words(
            "The result holds NaN where it should not",
            "A NaN came in through a lane that was masked off, through memory that nobody wrote, "
            "or through arithmetic such as inf - inf or 0 * inf.",
            "Check the `other` of each masked load and the memory that you start from.",
        ),
        _nan_result,
    ),
    Pattern(
        "nearly-right",
        Words(
            "The values are nearly right, and not quite",
            "All results lie within a percent or so of the reference, and yet further from it "
            "than rounding in float32 explains. A constant with a wrong digit, an approximate "
            "formula or a step in half precision does that.",
            "Compare each constant with the contract, and convert to float32 right after the load.",
        ),
        _nearly_right,
    ),
)

WRONG_VALUES = Words(
    "Some values are wrong",
    "All elements were stored, but not all of them are right.",
    "Work the first wrong element out by hand and compare it with what the kernel does.",
)
