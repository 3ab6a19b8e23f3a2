"""Mistakes of a product whose masks or loop compare with the size of another axis."""

from __future__ import annotations

from collections.abc import Callable

import torch

from graders.judge.records import Evidence, Misconception
from graders.misconceptions.detectors import READS_OUTSIDE, has_fault
from graders.misconceptions.expected import Result, computes, each

Operands = Callable[..., tuple[torch.Tensor, torch.Tensor]]


def bound_of_other_axis(operands: Operands, finish: Result) -> Misconception:
    """Return the misconception of rows, columns or k that end where another axis ends."""

    def cut_short(*args: torch.Tensor) -> list[torch.Tensor]:
        a, b = operands(*args)
        (m, k), n = a.shape, b.shape[1]
        found = []
        if m < n:
            found.append(a @ b * (torch.arange(n) < m))
        if n < m:
            found.append(a @ b * (torch.arange(m) < n)[:, None])
        found += [a[:, :end] @ b[:end] for end in {m, n} if end < k]
        return each(finish(product, *args) for product in found)

    def detector(evidence: Evidence) -> bool:
        a, b = operands(*evidence.args)
        return a.shape[0] != b.shape[1] and has_fault(evidence, READS_OUTSIDE)

    return Misconception(
        code="bound-of-other-axis",
        places=True,
        title="A bound is that of another axis",
        message=(
            "The rows of a end at M, the columns of b at N, and the loop at K. One of these is "
            "compared with the size of another axis: where that is smaller, elements are left out "
            "of the product, where it is larger, the kernel reads beyond the end. Square matrices "
            "hide it."
        ),
        next_step=(
            "Look at each mask and at the loop: `offs_m < M`, `offs_n < N`, `offs_k < K`, and "
            "`range(0, K, BLOCK_K)`."
        ),
        expected_wrong=computes(cut_short),
        detector=detector,
    )
