"""Wrong results whose shape tells their cause, whatever the exercise is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from graders.judge.diagnosis import holes
from graders.judge.diagnosis.generic import FindingText
from graders.judge.records import Evidence

SUBNORMAL = 1e-37  # below it, and below the smallest normal float32 nearly
ENOUGH = 12  # elements: fewer have something in common by chance
FEWEST_VALUES = 4  # different ones: a result of zeros and ones is a permutation of many others


@dataclass(frozen=True)
class Pattern:
    """A wrong result with a shape that tells its cause. `shows(evidence, wrong)` decides."""

    code: str
    text: FindingText
    shows: Callable[[Evidence, torch.Tensor], bool]


def _same(actual: torch.Tensor, other: torch.Tensor) -> bool:
    if actual.shape != other.shape or actual.numel() < 3:
        return False
    if not actual.is_floating_point():
        return torch.equal(actual, other.to(actual.dtype))
    got, want = actual.double(), other.double()
    finite = want[want.isfinite()]
    scale = float(finite.abs().max()) if finite.numel() else 0.0
    return torch.allclose(got, want, rtol=1e-2, atol=1e-6 * scale, equal_nan=True)


def _all_zeros(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual = evidence.actual
    return actual is not None and actual.numel() > 1 and not bool(actual.any())


def _input_returned(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual = evidence.actual
    if actual is None or _same(actual, evidence.expected):
        return False
    tensors = [arg for arg in evidence.args if isinstance(arg, torch.Tensor)]
    return any(_same(actual, tensor) for tensor in tensors)


def _only_specials(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether every ordinary number is right, of which there are enough."""
    if not evidence.expected.is_floating_point() or evidence.actual is None:
        return False
    want, got = evidence.expected.double(), evidence.actual.double()
    ordinary = want.isfinite() & (want.abs() > SUBNORMAL)
    usual = got.isfinite() & (got.abs() > SUBNORMAL)  # where 0 is due, a mistake and no special
    if bool((wrong & (want == 0) & usual).any()):
        return False
    return not bool((wrong & ordinary).any()) and int(ordinary.sum()) >= ENOUGH


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
    if _same(expected[1:], expected[:-1]):
        return False  # all the same: nothing tells a shift
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
    due = evidence.expected.isnan()
    strange = actual.isnan() & ~due
    if bool(due.any()):  # then any mistake moves some of the NaNs
        return 2 * int(strange.sum()) > int(wrong.sum())
    return bool(strange.any())


def _finite(evidence: Evidence) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Result and reference where both are finite; None where that is too little to tell."""
    actual = evidence.actual
    if actual is None or not actual.is_floating_point():
        return None
    got, want = actual.double().reshape(-1), evidence.expected.double().reshape(-1)
    known = got.isfinite() & want.isfinite()
    whole = int(known.sum()) == int(want.isfinite().sum()) >= ENOUGH
    return (got[known], want[known]) if whole else None


def _constant_factor(evidence: Evidence, wrong: torch.Tensor) -> bool:
    pair = _finite(evidence)
    if pair is None or not bool(pair[1].any()) or not bool(pair[0].any()):
        return False
    got, want = pair
    factor = float((got * want).sum() / (want * want).sum())
    close = (got - factor * want).abs() <= 2e-3 * (factor * want).abs() + 1e-6 * got.abs().max()
    return abs(factor - 1) > 0.02 and bool(close.all())


def _constant_offset(evidence: Evidence, wrong: torch.Tensor) -> bool:
    pair = _finite(evidence)
    if pair is None:
        return False
    apart = pair[0] - pair[1]
    size = float(pair[1].abs().max())
    middle = float(apart.median())
    return abs(middle) > 1e-2 * size and bool(((apart - middle).abs() <= 1e-3 * size).all())


def _signs_differ(evidence: Evidence, wrong: torch.Tensor) -> bool:
    pair = _finite(evidence)
    if pair is None:
        return False
    return _same(pair[0].abs(), pair[1].abs()) and not _same(*pair)


def _permuted(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """The values of the reference, each as often as there, in another order."""
    actual, expected = evidence.actual, evidence.expected
    if actual is None or actual.numel() < ENOUGH or actual.dtype == torch.bool:
        return False
    if torch.unique(expected).numel() < FEWEST_VALUES:
        return False
    got, want = actual.double().reshape(-1), expected.to(actual.dtype).double().reshape(-1)
    return _same(got.sort().values, want.sort().values)


PATTERNS = (
    Pattern(
        "nothing-written",
        FindingText(
            "No kernel got the tensor that is returned",
            "The launcher returns memory as torch.empty left it: for this input no kernel was "
            "launched, or the one that ran stored into another tensor, whose contents are lost.",
            "Hand the tensor that you return to the launch, and launch for every size.",
        ),
        _not_written,
    ),
    Pattern(
        "store-silenced",
        FindingText(
            "Every lane of the store was switched off",
            "The kernel has a tl.store, but no program stored anything: the mask is false for "
            "every lane that points into the output. `offsets > n_elements` and "
            "`offsets >= n_elements` are such masks: no element has an offset like that.",
            "The mask must be true for the offsets inside the output: "
            "`mask = offsets < n_elements`. Write down offsets and mask of program 0, which starts "
            "at element 0. Is the mask right already? Then see which number arrives in it, and "
            "whether the offsets start at 0.",
        ),
        holes.silenced,
    ),
    Pattern(
        "nothing-stored",
        FindingText(
            "No program stored anything",
            "The output is exactly as it was allocated: the kernel has no tl.store that a program "
            "comes to, or it is not launched, or it stores to another tensor than the one that is "
            "returned.",
            "End the kernel with tl.store(output_ptr + offsets, value, mask=mask). Launch it, and "
            "return the tensor that it gets as output_ptr.",
        ),
        holes.nothing_stored,
    ),
    Pattern(
        "first-row-only",
        FindingText(
            "Only the first row was written",
            "Every program works on row 0, or there is only one program.",
            "Let each program find its own row: row = tl.program_id(0).",
        ),
        holes.first_row_only,
    ),
    Pattern(
        "first-block-only",
        FindingText(
            "Only the beginning of the output was written",
            "The first elements are there and the rest was never stored: the programs all work "
            "on the same block, or the grid has too few programs.",
            "Check that offsets start at program_id * BLOCK_SIZE and that the grid rounds up "
            "(triton.cdiv).",
        ),
        holes.prefix_only,
    ),
    Pattern(
        "last-block-only",
        FindingText(
            "Only the end of the output was written",
            "The last elements are there and the ones before them were never stored.",
            "Look at how a program finds its first element.",
        ),
        holes.suffix_only,
    ),
    Pattern(
        "never-stored",
        FindingText(
            "Some elements were never written",
            "They still hold whatever was in memory before.",
            "Follow one missing element: which program should store it, and does its mask let it?",
        ),
        holes.never_stored,
    ),
    Pattern(
        "special-values",
        FindingText(
            "Only special values are wrong",
            "Every ordinary number is right. What is not: NaN, the infinities, the negative zero, "
            "or numbers too small to be normal floats.",
            "Infinity times 0 and infinity minus infinity are NaN: choose with tl.where, do not "
            "multiply by a condition. (In a copy there is no arithmetic at all: `x + 0` and a "
            "comparison with 0 lose the sign of -0.0.)",
        ),
        _only_specials,
    ),
    Pattern(
        "all-zeros",
        FindingText(
            "The result is zero everywhere",
            "The values were stored, but they are all zero. Usual causes: a loop that never runs, "
            "an accumulator to which nothing is added, or loads whose mask lets nothing through, "
            "so that `other` is all there is.",
            "With print_if, print what is stored, and then what it is made of: which is the first "
            "to be zero?",
        ),
        _all_zeros,
    ),
    Pattern(
        "offsets-stored",
        FindingText(
            "The offsets were stored, not the values",
            "The output is 0, 1, 2, 3 and so on: the numbers of its own elements.",
            "Hand the block of values to tl.store; the offsets belong into its pointers.",
        ),
        _offsets_stored,
    ),
    Pattern(
        "input-returned",
        FindingText(
            "The result is one of the inputs, unchanged",
            "The kernel copies an input instead of computing with it.",
            "Look at the value that tl.store receives.",
        ),
        _input_returned,
    ),
    Pattern(
        "transposed-result",
        FindingText(
            "Rows and columns are exchanged",
            "The values are right but stand where the transposed matrix would have them.",
            "Check which index goes with which stride in the store.",
        ),
        _transposed,
    ),
    Pattern(
        "shifted-by-one",
        FindingText(
            "Everything is one element off",
            "The output equals the right answer, moved by one place.",
            "Look at where the offsets start.",
        ),
        _shifted,
    ),
    Pattern(
        "constant-factor",
        FindingText(
            "Every result is too large or too small by the same factor",
            "Divided by the right result, each element gives one and the same number: a factor is "
            "missing, there twice, or another one than the contract's.",
            "Divide the first wrong element by the expected one. Which number of the kernel is "
            "that: a count, a size, a scale, 2?",
        ),
        _constant_factor,
    ),
    Pattern(
        "constant-offset",
        FindingText(
            "Every result is off by the same amount",
            "The difference to the right result is one and the same number everywhere: something "
            "is added, or left out, that does not depend on the element.",
            "Subtract the expected element from the first wrong one. Where does that number come "
            "from?",
        ),
        _constant_offset,
    ),
    Pattern(
        "signs-differ",
        FindingText(
            "Only the signs are wrong",
            "Without their signs the results are right: an absolute value, a difference the "
            "wrong way round, or a minus that is missing or too many.",
            "Look for `tl.abs`, for a comparison with 0, and for the order in each subtraction.",
        ),
        _signs_differ,
    ),
    Pattern(
        "nearly-right",
        FindingText(
            "The values are nearly right, and not quite",
            "All results lie within a percent or so of the reference, and yet further from it "
            "than rounding in float32 explains. A constant with a wrong digit, an approximate "
            "formula or a step in half precision does that.",
            "Compare each constant with the contract, and convert to float32 right after the load.",
        ),
        _nearly_right,
    ),
    Pattern(
        "right-values-elsewhere",
        FindingText(
            "The right values stand at the wrong places",
            "Every value of the right result is there, as often as it should be, but not where "
            "it belongs: tiles, rows or the elements of a block have changed places.",
            "Follow the first wrong element: where is it loaded from, and where is it stored? "
            "(A reshape keeps the order in memory; it does not turn a tile.)",
        ),
        _permuted,
    ),
    Pattern(
        "nan-result",
        FindingText(
            "The result holds NaN where it should not",
            "A NaN came in through a lane that was masked off, through memory that nobody wrote, "
            "or through arithmetic such as inf - inf or 0 * inf.",
            "Check the `other` of each masked load and the memory that you start from.",
        ),
        _nan_result,
    ),
)
