"""A mixture of experts: each row times the matrix of its expert."""

from __future__ import annotations

from itertools import pairwise

import torch


def grouped_gemm(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Return x, whose rows offsets[i] to offsets[i + 1] are multiplied by w[i]."""
    bounds = offsets.tolist()
    result = x.new_empty(x.shape[0], w.shape[2])
    for expert, (first, end) in enumerate(pairwise(bounds)):
        result[first:end] = x[first:end] @ w[expert]
    return result


def grouped_gemm_magnitude(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Return the sum of the absolute values of the products."""
    return grouped_gemm(x.abs(), w.abs(), offsets)
