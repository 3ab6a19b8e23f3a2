"""Counts of numbers, running sums, and a product whose sum is cut into parts."""

from __future__ import annotations

import torch


def histogram(x: torch.Tensor, n_bins: int) -> torch.Tensor:
    """Return how often each of 0, 1, ..., n_bins - 1 stands in x, in int32."""
    numbers = x.reshape(-1).to(torch.int64)
    inside = numbers[(numbers >= 0) & (numbers < n_bins)]
    return torch.bincount(inside, minlength=n_bins).to(torch.int32)


SAME_DIRECTION = 256  # terms whose errors the usual tolerance covers


def cumsum(x: torch.Tensor) -> torch.Tensor:
    """Return the running sums of each row."""
    return x.cumsum(dim=1)


def cumsum_magnitude(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of the absolute values of the terms of each element, larger for many terms.

    If all terms are equal, each addition one after another may round in the same direction.
    """
    terms = torch.arange(1, x.shape[1] + 1, device=x.device, dtype=torch.float64)
    return x.abs().cumsum(dim=1) * (terms / SAME_DIRECTION).clamp(min=1)


def split_product(a: torch.Tensor, b: torch.Tensor, splits: int) -> torch.Tensor:
    """Return a @ b, whatever the number of parts."""
    return a @ b


def split_product_magnitude(a: torch.Tensor, b: torch.Tensor, splits: int) -> torch.Tensor:
    """Return the sum of the absolute values of the products."""
    return a.abs() @ b.abs()
