"""Marks that mistakes about rows of logits leave: what is not finite, rows that do not count."""

from __future__ import annotations

import torch

from graders.course.capstone.reference import IGNORED
from graders.course.common.detectors import OUT_OF_BOUNDS, has_fault, has_holes
from graders.judge.diagnosis.matching import close
from graders.judge.records import Evidence

LANES_USED = frozenset({"masked-lanes-used"})  # the engine knows where these NaNs come from
LONGER = 64  # columns: shorter rows are in one block


def _ignored(evidence: Evidence) -> torch.Tensor:
    """Which rows do not count."""
    found: torch.Tensor = evidence.args[1] == IGNORED
    return found


def _broken_rows(evidence: Evidence) -> torch.Tensor | None:
    """Which rows are not finite in a result that is whole; None where there are none."""
    actual, logits = evidence.actual, evidence.args[0]
    if actual is None or not logits.numel() or has_holes(evidence):
        return None
    if has_fault(evidence, LANES_USED):
        return None
    rows = ~actual.isfinite().reshape(len(actual), -1).all(dim=1)
    return rows if bool(rows.any()) else None


def _largest(evidence: Evidence) -> torch.Tensor:
    largest: torch.Tensor = evidence.args[0].double().amax(dim=1)
    return largest


def overflowed(evidence: Evidence) -> bool:
    """Tell whether exactly rows with large (or very negative) numbers are not finite."""
    rows = _broken_rows(evidence)
    if rows is None:
        return False
    logits, largest = evidence.args[0].double(), _largest(evidence)
    spread = largest - logits.amin(dim=1)
    far = (largest[rows] > 80) | (largest[rows] < -80)
    return bool(far.all()) or bool((spread[rows].isfinite() & (spread[rows] > 80)).all())


def all_underflowed(evidence: Evidence) -> bool:
    """Tell whether rows far below zero are not finite, and no others."""
    rows = _broken_rows(evidence)
    if rows is None:
        return False
    largest = _largest(evidence)
    return bool((largest[rows] < -80).all()) and not bool(
        (largest[~rows & ~_ignored(evidence)] < -110).any()
    )


def rescaled_to_infinity(evidence: Evidence) -> bool:
    """Tell whether all rows of some long matrix that count are NaN."""
    rows = _broken_rows(evidence)
    if rows is None or evidence.args[0].shape[1] <= LONGER:
        return False
    return bool(rows[~_ignored(evidence)].all()) and not bool(evidence.args[0].isinf().any())


def nan_after_infinity(evidence: Evidence) -> bool:
    """Tell whether all is right but rows that hold -inf, and those are not finite."""
    rows = _broken_rows(evidence)
    if rows is None:
        return False
    assert evidence.actual is not None
    infinite = (evidence.args[0] == -float("inf")).any(dim=1)
    right = close(evidence.actual, evidence.expected).reshape(len(rows), -1).all(dim=1)
    return bool(infinite[rows].all()) and bool(right[~rows].all())


def infinity_times_zero(evidence: Evidence) -> bool:
    """Tell whether just the rows with a -inf are NaN, though none begins with a block of them."""
    rows = _broken_rows(evidence)
    if rows is None or not evidence.launches:
        return False
    infinite = evidence.args[0] == -float("inf")
    blocks = [n for n in evidence.launches[-1].meta.values() if type(n) is int and n > 1]
    leading = int(infinite.int().cumprod(dim=1).sum(dim=1).max())
    counted = infinite.any(dim=1) & ~_ignored(evidence)
    return bool(blocks) and min(blocks) > leading and torch.equal(rows, counted)


def only_ignored_wrong(evidence: Evidence) -> bool:
    """Tell whether all is right but rows that do not count, and those hold numbers."""
    actual, ignored = evidence.actual, _ignored(evidence)
    if actual is None or not bool(ignored.any()) or _ignored_left(evidence):
        return False
    wrong = ~close(actual, evidence.expected).reshape(len(actual), -1).all(dim=1)
    return bool(wrong.any()) and not bool(wrong[~ignored].any())


def ignored_times_zero(evidence: Evidence) -> bool:
    """Tell whether rows that do not count are NaN where their loss would not be finite."""
    actual, logits = evidence.actual, evidence.args[0]
    if actual is None or actual.dim() != 1:
        return False
    wrong = ~close(actual, evidence.expected)
    largest = (
        logits.double().amax(dim=1) if logits.shape[1] else torch.full(actual.shape, -torch.inf)
    )
    lost = actual.isnan() & _ignored(evidence) & ~largest.isfinite()
    return bool(wrong.any()) and torch.equal(wrong, lost)


def _ignored_left(evidence: Evidence) -> bool:
    return bool(_holes(evidence)[_ignored(evidence)].any())


def _holes(evidence: Evidence) -> torch.Tensor:
    """Which rows have elements that nobody stored."""
    left = evidence.never_stored
    if left is None:
        return torch.zeros_like(_ignored(evidence))
    return left.reshape(len(left), -1).any(dim=1)


def ignored_left_out(evidence: Evidence) -> bool:
    """Tell whether exactly rows that do not count were never stored, or not as a whole."""
    holes, ignored = _holes(evidence), _ignored(evidence)
    return bool(holes.any()) and not bool(holes[~ignored].any())


def reads_at_ignored(evidence: Evidence) -> bool:
    """Tell whether a kernel left the logits, or stores to them, where a target is -100."""
    return bool(_ignored(evidence).any()) and has_fault(evidence, OUT_OF_BOUNDS)


def garbage_let_in(evidence: Evidence) -> bool:
    """Tell whether rows that do not count, and those alone, are NaN as their dloss is."""
    rows = _broken_rows(evidence)
    if rows is None or len(evidence.args) < 3:
        return False
    return bool((evidence.args[2].isnan() & _ignored(evidence))[rows].all())
