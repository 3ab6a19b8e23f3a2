"""Mistakes of a product whose masks or loop compare with the size of another axis."""

from __future__ import annotations

import torch

from graders.course.common.detectors import READS_OUTSIDE, has_fault
from graders.course.common.expected import Operands, Result, computes, computes_with_block, each
from graders.course.common.strays import starts_before_tensor
from graders.judge.records import Evidence, Misconception


def reads_behind(evidence: Evidence) -> bool:
    """Whether reads left a tensor, and not at its start: neither strides nor bounds lead there."""
    return has_fault(evidence, READS_OUTSIDE) and not starts_before_tensor(evidence)


def bound_of_other_axis(operands: Operands, finish: Result) -> Misconception:
    """Return the misconception of rows, columns or k that end where another axis ends."""

    def masked_early(*args: torch.Tensor) -> torch.Tensor | None:
        a, b = operands(*args)
        m, n = a.shape[0], b.shape[1]
        kept = (torch.arange(m)[:, None] < n) & (torch.arange(n) < m)
        return finish(a @ b * kept, *args)

    def wrapped(*args: torch.Tensor) -> list[torch.Tensor]:
        a, b = operands(*args)
        (m, n), product = (a.shape[0], b.shape[1]), a @ b
        by_rows = product[:, torch.arange(n) % m] if 0 < m < n else None
        by_columns = product[torch.arange(m) % n] if 0 < n < m else None
        found = (by_rows, by_columns)
        return each(finish(one, *args) for one in found if one is not None)

    def ended_early(block: int, *args: torch.Tensor) -> list[torch.Tensor]:
        a, b = operands(*args)
        ends = {-(-size // block) * block for size in (a.shape[0], b.shape[1])}
        return each(finish(a[:, :end] @ b[:end], *args) for end in ends if end < a.shape[1])

    def detector(evidence: Evidence) -> bool:
        a, b = operands(*evidence.args)
        return a.shape[0] != b.shape[1] and reads_behind(evidence)

    return Misconception(
        code="bound-of-other-axis",
        places=True,
        title="A bound is that of another axis",
        message=(
            "One of the bounds M, N and K is used for another axis. Elements are left out, or "
            "repeated, or the kernel reads past the end. Square matrices hide this."
        ),
        next_step=(
            "Check each mask and the loop: `offs_m < M`, `offs_n < N`, `offs_k < K`, and "
            "`range(0, K, BLOCK_K)`."
        ),
        expected_wrong=computes(masked_early, wrapped) + computes_with_block(ended_early),
        detector=detector,
    )


def ones_behind_k(operands: Operands, finish: Result) -> Misconception:
    """Return the misconception of lanes behind k that are 1 in both factors."""

    def added(block: int, *args: torch.Tensor) -> torch.Tensor | None:
        a, b = operands(*args)
        extra = -a.shape[1] % block
        return finish(a @ b + extra, *args) if extra else None

    return Misconception(
        code="ones-behind-k",
        title="Lanes past k are loaded as 1, and each adds 1 to the sum",
        message=(
            "Every element is too large by the number of lanes past k in the last block. "
            "`other=1` puts a 1 there in both factors."
        ),
        next_step="Load with `other=0.0`: zeros do not change a sum.",
        expected_wrong=computes_with_block(added),
    )
