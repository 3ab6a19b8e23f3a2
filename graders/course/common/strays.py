"""Detectors of lanes that leave a tensor: which tensor, and on which side."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from graders.course.common.detectors import (
    OUT_OF_BOUNDS,
    READS_OUTSIDE,
    all_contiguous,
    has_fault,
    tensors,
)
from graders.judge.records import Evidence, Outside


def left(
    evidence: Evidence, tensor: torch.Tensor, codes: frozenset[str] = READS_OUTSIDE
) -> Iterator[Outside]:
    """Yield the lanes that left a tensor of this shape, in faults of these codes."""
    shape = tuple(tensor.shape)
    for fault in evidence.faults:
        if fault.code in codes and fault.outside is not None and fault.outside.shape == shape:
            yield fault.outside


def has_left(
    evidence: Evidence, tensor: torch.Tensor, codes: frozenset[str] = READS_OUTSIDE
) -> bool:
    """Return whether lanes left a tensor of this shape."""
    return any(True for _ in left(evidence, tensor, codes))


def strays_in_view(evidence: Evidence) -> bool:
    """Return whether the kernel read outside a view, as kernels that ignore strides do."""
    return not all_contiguous(evidence) and has_fault(evidence, READS_OUTSIDE)


def strays_though_masked(evidence: Evidence) -> bool:
    """Return whether program 0 has no more active lanes than there are elements, but some of them
    still point outside, so that the addresses are wrong and not the mask.

    Only for a vector: with two axes the right number of lanes can be active at the wrong places.
    """
    if evidence.expected.dim() != 1:
        return False
    for fault in evidence.faults:
        seen = fault.outside
        if seen is None or fault.program != (0, 0, 0) or fault.code.startswith("gap"):
            continue
        if seen.lanes < seen.active <= evidence.expected.numel():
            return True
    return False


def starts_before_tensor(evidence: Evidence) -> bool:
    """Return whether lanes were before the first element of a tensor."""
    strayed = (fault.outside for fault in evidence.faults if fault.code in OUT_OF_BOUNDS)
    return any(seen is not None and seen.lowest < 0 for seen in strayed)


def reaches_far(evidence: Evidence) -> bool:
    """Return whether some tensor has elements more than 2**31 elements from its first."""
    return any(
        sum((size - 1) * stride for size, stride in zip(t.shape, t.stride(), strict=True)) >= 2**31
        for t in tensors(evidence)
        if t.numel()
    )
