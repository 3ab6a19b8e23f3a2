"""GELU in its tanh form."""

from __future__ import annotations

import math

import torch

ROOT = math.sqrt(2 / math.pi)


def gelu(x: torch.Tensor) -> torch.Tensor:
    """Return the tanh form of GELU."""
    return 0.5 * x * (1 + torch.tanh(ROOT * (x + 0.044715 * x**3)))
