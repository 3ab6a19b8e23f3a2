"""Sums of two vectors; a colour picture in grey; a bias and a ReLU over a matrix."""

from __future__ import annotations

import torch

WEIGHTS = torch.tensor((0.2989, 0.5870, 0.1140), dtype=torch.float64)


def grey(img: torch.Tensor) -> torch.Tensor:
    """Return the picture in grey, in float64 whatever the dtype of img."""
    red, green, blue = img.double().unbind(0)
    return WEIGHTS[0] * red + WEIGHTS[1] * green + WEIGHTS[2] * blue


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return relu(x + bias), the bias by column."""
    return torch.relu(x + bias)


def outer_sum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return all sums x[i] + y[j]."""
    return x[:, None] + y[None, :]
