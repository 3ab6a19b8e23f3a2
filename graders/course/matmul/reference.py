"""The product of two matrices, and a whole layer."""

from __future__ import annotations

import torch


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b."""
    return a @ b


def product_magnitude(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the sum of the absolute values of the products."""
    return a.abs() @ b.abs()


def layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return relu(x @ w.T + b)."""
    return torch.relu(x @ w.t() + b)


def layer_magnitude(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the sum of the absolute values of the terms, before the ReLU."""
    return x.abs() @ w.abs().t() + b.abs()
