"""Counts of numbers, running sums, and a product whose sum is cut into parts."""

from __future__ import annotations

import torch


def histogram(x: torch.Tensor, n_bins: int) -> torch.Tensor:
    """Return how often each of 0, 1, ..., n_bins - 1 stands in x, in int32."""
    numbers = x.reshape(-1).to(torch.int64)
    inside = numbers[(numbers >= 0) & (numbers < n_bins)]
    return torch.bincount(inside, minlength=n_bins).to(torch.int32)


def cumsum(x: torch.Tensor) -> torch.Tensor:
    """Return the running sums of each row."""
    return x.cumsum(dim=1)


def cumsum_magnitude(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of the absolute values of the terms of each element."""
    return x.abs().cumsum(dim=1)


def split_product(a: torch.Tensor, b: torch.Tensor, splits: int) -> torch.Tensor:
    """Return a @ b, whatever the number of parts."""
    return a @ b


def split_product_magnitude(a: torch.Tensor, b: torch.Tensor, splits: int) -> torch.Tensor:
    """Return the sum of the absolute values of the products."""
    return a.abs() @ b.abs()
