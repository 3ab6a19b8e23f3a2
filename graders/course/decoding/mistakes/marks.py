"""What mistakes in decoding leave behind, beside the numbers: NaN, holes, and what was touched."""

from __future__ import annotations

import math

import torch

from graders.course.common.detectors import OUT_OF_BOUNDS, has_fault, has_holes
from graders.course.decoding.reference import cache_of, scores
from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import close
from graders.judge.records import Evidence

USUAL_PAGE = 16  # slots
# exp in float32 is inf above the first, and 0 below the second; between the others it is neither.
OVERFLOWS, UNDERFLOWS = 88.8, -104.0
FITS = (-80.0, 80.0)


def _lengths(evidence: Evidence) -> torch.Tensor:
    lengths: torch.Tensor = evidence.args[4]
    return lengths


def _has_garbage(evidence: Evidence) -> bool:
    """Whether there is poison behind a length, in the table or in the pages."""
    _, k_pages, _, table, _ = evidence.args
    return bool((table < 0).any()) or bool(k_pages.isnan().any())


def _sequences_of_nan(evidence: Evidence) -> torch.Tensor | None:
    """Which sequences are NaN as a whole, where all others are right and there are some."""
    actual = evidence.actual
    if actual is None or actual.ndim != 3 or not actual.numel() or has_holes(evidence):
        return None
    lost = actual.isnan().all(dim=2).all(dim=1)
    rest = close(actual, evidence.expected)[~lost].all()
    return lost if bool(lost.any()) and bool(rest) else None


def nothing_is_nan(evidence: Evidence) -> bool:
    """All is right but for sequences without keys, which are NaN."""
    lost = _sequences_of_nan(evidence)
    return lost is not None and bool((_lengths(evidence)[lost] == 0).all())


def nothing_is_left_open(evidence: Evidence) -> bool:
    """Just the sequences without keys were never stored."""
    missing = evidence.never_stored
    if missing is None or missing.ndim != 3 or not missing.any():
        return False
    empty = (_lengths(evidence) == 0)[:, None, None].expand_as(missing)
    return torch.equal(missing, empty)


def empty_part_is_nan(evidence: Evidence) -> bool:
    """Sequences with keys are NaN, as a whole, though nothing that may be read is."""
    lost = _sequences_of_nan(evidence)
    if lost is None or _has_garbage(evidence):
        return False
    return bool((_lengths(evidence)[lost] > 0).any()) and not has_fault(
        evidence, frozenset({"masked-lanes-used", "uninitialised-read"})
    )


def _highest_scores(evidence: Evidence) -> torch.Tensor:
    """The highest score of each query head, (b, hq); NaN where there is no key."""
    q, k, v, table, lengths = widened(evidence.args)
    s = scores(q, cache_of(k, v, table, lengths)) / math.sqrt(q.shape[-1])
    highest = s.amax(dim=-1) if s.shape[-1] else s.new_full(s.shape[:2], -math.inf)
    return highest.masked_fill(highest.isinf(), math.nan)


def _heads_lost(evidence: Evidence, lost: torch.Tensor, highest: torch.Tensor) -> bool:
    """Whether heads are lost just where `highest` is beyond what exp can do, and others right."""
    if evidence.actual is None or has_holes(evidence):
        return False
    right = close(evidence.actual, evidence.expected).all(dim=-1)
    fits = (highest > FITS[0]) & (highest < FITS[1]) | highest.isnan()
    return bool((right[fits]).all()) and bool((lost | right).all()) and bool(lost.any())


def maximum_missing(evidence: Evidence) -> bool:
    """Heads are NaN or inf where the highest score is too high for exp, or far below zero."""
    if evidence.actual is None or not evidence.actual.numel():
        return False
    highest = _highest_scores(evidence)
    lost = (~evidence.actual.isfinite()).any(dim=-1)
    beyond = (highest > OVERFLOWS) | (highest < UNDERFLOWS)
    return bool(lost[beyond].all()) and _heads_lost(evidence, lost & ~highest.isnan(), highest)


def maximum_starts_at_zero(evidence: Evidence) -> bool:
    """Heads whose scores all lie far below zero are 0 (or 0 / 0); all others are right."""
    if evidence.actual is None or not evidence.actual.numel():
        return False
    highest = _highest_scores(evidence)
    nothing = ((evidence.actual == 0) | evidence.actual.isnan()).all(dim=-1)
    lost = nothing & (highest < FITS[0])
    return bool(nothing[highest < UNDERFLOWS].all()) and _heads_lost(evidence, lost, highest)


def garbage_used(evidence: Evidence) -> bool:
    """Poison behind a length has reached the result, or led outside of the pages."""
    if not _has_garbage(evidence):
        return False
    if any(f.code in OUT_OF_BOUNDS and f.argument != "block_table" for f in evidence.faults):
        return True
    actual = evidence.actual
    if actual is None or has_holes(evidence):
        return False
    return bool((actual.isnan() & ~evidence.expected.isnan()).any())


def _whole_heads_missing(evidence: Evidence) -> torch.Tensor | None:
    """Which heads nobody stored, the same in all sequences that have keys."""
    missing = evidence.never_stored
    if missing is None or missing.ndim != 3 or not missing.any():
        return None
    rows = missing.all(dim=2)
    if not torch.equal(rows, missing.any(dim=2)):
        return None
    some = rows[_lengths(evidence) > 0]
    heads = some[0] if len(some) else rows[0]
    return heads if bool((some == heads).all()) and bool(heads.any()) else None


def heads_left_out(evidence: Evidence) -> bool:
    """The same heads were never stored in any sequence, others were."""
    heads = _whole_heads_missing(evidence)
    return heads is not None and not bool(heads.all())


def usual_page_assumed(evidence: Evidence) -> bool:
    """The kernel left a tensor in a case whose pages do not have the usual number of slots."""
    return bool(evidence.args[1].shape[1] != USUAL_PAGE) and has_fault(evidence, OUT_OF_BOUNDS)


def left_by_table_of_view(evidence: Evidence) -> bool:
    """The kernel left a tensor where the table is a view whose columns are no neighbours."""
    table = evidence.args[3]
    return table.stride(1) != 1 and table.numel() > 1 and has_fault(evidence, OUT_OF_BOUNDS)


def left_by_strides_of_another(evidence: Evidence) -> bool:
    """The kernel left a cache where keys and values have strides of their own."""
    _, k_pages, v_pages, _, _ = evidence.args
    return k_pages.stride() != v_pages.stride() and has_fault(evidence, OUT_OF_BOUNDS)
