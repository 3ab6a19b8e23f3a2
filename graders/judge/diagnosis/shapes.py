"""What a wrong result looks like, whatever the exercise is: `shape(evidence, wrong)` is a bool.

`wrong` is true where the result is not acceptable.
"""

from __future__ import annotations

import torch

from graders.judge.records import Evidence

SUBNORMAL = 1e-37  # a little above the smallest normal float32
ENOUGH = 12  # elements: fewer have something in common by chance
FEWEST_ROWS = 3  # of a matrix, before "only the first one is correct" means anything
TILE_SIDES = (2, 4, 8, 16, 32, 64, 128)
FEWEST_VALUES = 4  # different ones: a result of zeros and ones is a permutation of many others


def _same(actual: torch.Tensor, other: torch.Tensor) -> bool:
    if actual.shape != other.shape or actual.numel() < 3:
        return False
    if not actual.is_floating_point():
        return torch.equal(actual, other.to(actual.dtype))
    got, want = actual.double(), other.double()
    finite = want[want.isfinite()]
    scale = float(finite.abs().max()) if finite.numel() else 0.0
    return torch.allclose(got, want, rtol=1e-2, atol=1e-6 * scale, equal_nan=True)


def all_zeros(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual = evidence.actual
    return actual is not None and actual.numel() > 1 and not bool(actual.any())


def input_returned(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual = evidence.actual
    if actual is None or _same(actual, evidence.expected):
        return False
    tensors = [arg for arg in evidence.args if isinstance(arg, torch.Tensor)]
    return any(_same(actual, tensor) for tensor in tensors)


def only_specials(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether every ordinary number is correct, and there are enough of them."""
    if not evidence.expected.is_floating_point() or evidence.actual is None:
        return False
    want, got = evidence.expected.double(), evidence.actual.double()
    ordinary = want.isfinite() & (want.abs() > SUBNORMAL)
    usual = got.isfinite() & (got.abs() > SUBNORMAL)  # a mistake where 0 is due, not a special
    if bool((wrong & (want == 0) & usual).any()):
        return False
    return not bool((wrong & ordinary).any()) and int(ordinary.sum()) >= ENOUGH


def transposed(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual, expected = evidence.actual, evidence.expected
    if actual is None or expected.dim() != 2 or min(expected.shape) < 2:
        return False
    flipped = expected.T.contiguous().reshape(expected.shape)
    return _same(actual, flipped) and not _same(flipped, expected)


def shifted(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual, expected = evidence.actual, evidence.expected.reshape(-1)
    if actual is None or expected.numel() < 4:
        return False
    flat = actual.reshape(-1)
    if _same(expected[1:], expected[:-1]):
        return False  # all the same: a shift would not show
    return _same(flat[1:], expected[:-1]) or _same(flat[:-1], expected[1:])


def offsets_stored(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual = evidence.actual
    if actual is None or actual.numel() < 3:
        return False
    counted = torch.arange(actual.numel(), dtype=torch.float64).to(actual.dtype)
    return torch.equal(actual.reshape(-1), counted)


def not_written(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether the result has only the judge's poison, in memory that no kernel was given."""
    actual = evidence.actual
    if actual is None or evidence.never_stored is not None or not actual.numel():
        return False
    if actual.is_floating_point():
        return bool(actual.isnan().all()) and not bool(evidence.expected.isnan().all())
    return actual.dtype != torch.bool and bool((actual == torch.iinfo(actual.dtype).max).all())


def nearly_right(evidence: Evidence, wrong: torch.Tensor) -> bool:
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


def nan_result(evidence: Evidence, wrong: torch.Tensor) -> bool:
    actual = evidence.actual
    if actual is None or not actual.is_floating_point():
        return False
    due = evidence.expected.isnan()
    strange = actual.isnan() & ~due
    if bool(due.any()):  # then any mistake moves some of the NaNs
        return 2 * int(strange.sum()) > int(wrong.sum())
    return bool(strange.any())


def _finite(evidence: Evidence) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Result and reference where both are finite; None if that is too little to decide."""
    actual = evidence.actual
    if actual is None or not actual.is_floating_point():
        return None
    got, want = actual.double().reshape(-1), evidence.expected.double().reshape(-1)
    known = got.isfinite() & want.isfinite()
    whole = int(known.sum()) == int(want.isfinite().sum()) >= ENOUGH
    return (got[known], want[known]) if whole else None


def constant_factor(evidence: Evidence, wrong: torch.Tensor) -> bool:
    pair = _finite(evidence)
    if pair is None or not bool(pair[1].any()) or not bool(pair[0].any()):
        return False
    got, want = pair
    factor = float((got * want).sum() / (want * want).sum())
    close = (got - factor * want).abs() <= 2e-3 * (factor * want).abs() + 1e-6 * got.abs().max()
    return abs(factor - 1) > 0.02 and bool(close.all())


def constant_offset(evidence: Evidence, wrong: torch.Tensor) -> bool:
    pair = _finite(evidence)
    if pair is None:
        return False
    apart = pair[0] - pair[1]
    size = float(pair[1].abs().max())
    middle = float(apart.median())
    return abs(middle) > 1e-2 * size and bool(((apart - middle).abs() <= 1e-3 * size).all())


def signs_differ(evidence: Evidence, wrong: torch.Tensor) -> bool:
    pair = _finite(evidence)
    if pair is None:
        return False
    return _same(pair[0].abs(), pair[1].abs()) and not _same(*pair)


def permuted(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether the result has the values of the reference, each as often, in another order."""
    actual, expected = evidence.actual, evidence.expected
    if actual is None or actual.numel() < ENOUGH or actual.dtype == torch.bool:
        return False
    if torch.unique(expected).numel() < FEWEST_VALUES:
        return False
    got, want = actual.double().reshape(-1), expected.to(actual.dtype).double().reshape(-1)
    return _same(got.sort().values, want.sort().values)


def in_later_rounds(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether all wrong elements were stored by programs that had stored before."""
    again = evidence.again
    if again is None or min(int((~again).sum()), int(wrong.sum())) < ENOUGH:
        return False
    return not bool((wrong & ~again).any())


def only_first_row_right(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether a matrix is correct in the first row, and wrong in each other one."""
    if wrong.dim() != 2 or wrong.shape[0] < FEWEST_ROWS or wrong.shape[1] < 2:
        return False
    rows = wrong.any(dim=1)
    return not bool(rows[0]) and bool(rows[1:].all()) and wrong.shape[1] >= ENOUGH


def first_of_each_right(evidence: Evidence, wrong: torch.Tensor) -> bool:
    """Whether exactly the first row, or column, of each group of a matrix is correct.

    A group has as many as a block may have. False if there are so few groups that it may be chance.
    """
    if wrong.dim() != 2:
        return False
    for lines in (wrong.any(dim=1), wrong.any(dim=0)):
        for side in TILE_SIDES:
            first = torch.arange(len(lines)) % side == 0
            enough = int(first.sum()) >= FEWEST_ROWS
            if enough and bool((lines == ~first).all()):
                return True
    return False
