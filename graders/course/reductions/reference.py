"""Sums, softmax and layer normalisation of rows."""

from __future__ import annotations

import torch


def row_sum(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of each row."""
    return x.sum(dim=1)


def row_sum_magnitude(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of the absolute values of each row."""
    return x.abs().sum(dim=1)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row."""
    return torch.softmax(x, dim=-1)


def softmax_magnitude(x: torch.Tensor) -> torch.Tensor:
    """exp makes an error in its argument, which grows with the argument, a relative error.

    The argument is x - max, or, before the maximum is subtracted, x times log2(e) for exp2.
    """
    return (softmax(x) * (1 + 2 * x.abs() + row_maximum(x).abs())).nan_to_num(nan=0.0)


def row_maximum(x: torch.Tensor) -> torch.Tensor:
    """The maximum of each row, as a column."""
    return x.amax(dim=-1, keepdim=True) if x.numel() else x


def row_variance(x: torch.Tensor) -> torch.Tensor:
    """Return the biased variance of each row, as a column."""
    return ((x - x.mean(dim=1, keepdim=True)) ** 2).mean(dim=1, keepdim=True)


def layernorm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor:
    """Return each row with mean 0 and variance 1, times weight, plus bias."""
    variance = row_variance(x)
    return (x - x.mean(dim=1, keepdim=True)) / torch.sqrt(variance + eps) * weight + bias


def layernorm_magnitude(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor:
    """The mean's rounding error, as large as x's own, is divided by the deviation."""
    deviation = torch.sqrt(row_variance(x) + eps)
    size = x.abs() + x.abs().mean(dim=1, keepdim=True)
    return size / deviation * weight.abs() + bias.abs()
