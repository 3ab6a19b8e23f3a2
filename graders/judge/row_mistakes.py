"""Reductions over rows, right and wrong: references, magnitudes, imitations of mistakes."""

from __future__ import annotations

import torch

from graders.judge.model import Evidence


def blocks(x: torch.Tensor, size: int) -> list[torch.Tensor]:
    """Return the blocks of `size` columns into which a kernel cuts the rows of x."""
    return [x[..., start : start + size] for start in range(0, x.shape[-1], size)]


def row_variance(x: torch.Tensor) -> torch.Tensor:
    """Return the biased variance of each row, as a column."""
    return ((x - x.mean(dim=1, keepdim=True)) ** 2).mean(dim=1, keepdim=True)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax of each row."""
    return torch.softmax(x, dim=-1)


def softmax_magnitude(x: torch.Tensor) -> torch.Tensor:
    """exp makes an error in x - max, which grows with its size, a relative error."""
    below = x.amax(dim=-1, keepdim=True) - x if x.numel() else x
    return (softmax(x) * (1 + below)).nan_to_num(nan=0.0)


def padding_counted(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return the softmax of rows padded with zeros to the length of a block."""
    columns = x.shape[1]
    if block <= columns:
        return None
    weights = torch.exp(x)
    return weights / (weights.sum(dim=1, keepdim=True) + (block - columns))


def each_block_alone(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return the softmax of each block of a row for itself."""
    if block >= x.shape[1]:
        return None
    return torch.cat([softmax(part) for part in blocks(x, block)], dim=1)


def sum_not_rescaled(block: int, x: torch.Tensor) -> torch.Tensor | None:
    """Return an online softmax whose sum keeps the terms of older maxima as they were."""
    if block >= x.shape[1]:
        return None
    highest = torch.full((x.shape[0], 1), -float("inf"), dtype=x.dtype)
    total = torch.zeros((x.shape[0], 1), dtype=x.dtype)
    for part in blocks(x, block):
        highest = torch.maximum(highest, part.amax(dim=1, keepdim=True))
        total = total + torch.exp(part - highest).sum(dim=1, keepdim=True)
    return torch.exp(x - highest) / total


def overflowing(x: torch.Tensor) -> torch.Tensor:
    """Return the softmax in float32 without subtracting the maximum."""
    weights = torch.exp(x.float())
    return (weights / weights.sum(dim=1, keepdim=True)).double()


def overflowed(evidence: Evidence) -> bool:
    """Tell whether exactly rows with large (or very negative) numbers are not finite."""
    (x,) = evidence.args
    actual = evidence.actual
    if actual is None or not x.numel():
        return False
    rows = (~actual.isfinite()).any(dim=1)
    largest = x.double().amax(dim=1)
    return bool(rows.any()) and bool(((largest[rows] > 10) | (largest[rows] < -80)).all())


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


def normalised(
    x: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor, eps: float
) -> torch.Tensor:
    """Return (x - mean) / sqrt(variance + eps)."""
    return (x - mean) / torch.sqrt(variance + eps)


def padding_in_variance(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor | None:
    """Return a layer norm whose variance counts the lanes beyond the row, as -mean."""
    columns = x.shape[1]
    if block <= columns:
        return None
    mean = x.mean(dim=1, keepdim=True)
    squares = ((x - mean) ** 2).sum(dim=1, keepdim=True) + (block - columns) * mean**2
    return normalised(x, mean, squares / columns, eps) * weight + bias


def divided_by_block(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor | None:
    """Return a layer norm whose mean and variance are divided by the block size."""
    if block <= x.shape[1]:
        return None
    mean = x.sum(dim=1, keepdim=True) / block
    squares = ((x - mean) ** 2).sum(dim=1, keepdim=True)
    return normalised(x, mean, squares / block, eps) * weight + bias


def padded_and_divided_by_block(
    block: int, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor | None:
    """Return a layer norm of rows padded with zeros."""
    if block <= x.shape[1]:
        return None
    padded = torch.nn.functional.pad(x, (0, block - x.shape[1]))
    mean = padded.mean(dim=1, keepdim=True)
    variance = row_variance(padded)
    return normalised(x, mean, variance, eps) * weight + bias


def eps_outside(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> torch.Tensor:
    """Return a layer norm that adds eps to the deviation."""
    deviation = row_variance(x).sqrt() + eps
    return (x - x.mean(dim=1, keepdim=True)) / deviation * weight + bias


def cancelled(evidence: Evidence) -> bool:
    """The mean is far above the spread, and that is where the result is bad."""
    x = evidence.args[0].double()
    if x.shape[1] < 2 or not x.numel() or evidence.actual is None:
        return False
    ratio = x.mean(dim=1) ** 2 / row_variance(x)[:, 0].clamp_min(1e-30)
    return bool((ratio > 1e4).all())
