"""What a problem needs at least, and what a stopwatch should say."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import torch

PER_ELEMENT = {"copy": 0, "transpose": 0, "vector_add": 1, "softmax": 5, "layernorm": 8}
TENSORS = {"copy": 2, "transpose": 2, "vector_add": 3, "softmax": 2, "layernorm": 2}
Figures = tuple[float, float]


def least_elements(kind: str, shape: tuple[int, ...]) -> int:
    """Numbers that are read or written: each input once, each output once."""
    if kind == "matmul":
        m, k, n = shape
        return m * k + k * n + m * n
    affine = 2 * shape[-1] if kind == "layernorm" else 0
    return TENSORS[kind] * prod(shape) + affine


def least_operations(kind: str, shape: tuple[int, ...]) -> int:
    """Operations, a multiplication and an addition being two."""
    return 2 * prod(shape) if kind == "matmul" else PER_ELEMENT[kind] * prod(shape)


def throughput(
    kind: str, shape: tuple[int, ...], dtype: torch.dtype, milliseconds: float
) -> Figures:
    """GB/s and TFLOP/s."""
    moved = least_elements(kind, shape) * dtype.itemsize
    return moved / milliseconds * 1e-6, least_operations(kind, shape) / milliseconds * 1e-9


def kernel_ms(run: Callable[..., None], fresh_inputs: Callable[[], Any], gpu: Any) -> float:
    """The truth of a simulated GPU."""
    return float(gpu.model.kernel_ms)
