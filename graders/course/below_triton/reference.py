"""The trusted function of the lesson on what lies below Triton."""

from __future__ import annotations

import torch


def scale_rows(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    """Each row times its own number."""
    return x * s[:, None]
