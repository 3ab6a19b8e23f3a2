"""A matmul with any size of 0 is taken to move no bytes; but with k = 0 the (m, n) result is
written all the same (and with m = 0 or n = 0 the other factor is an input that is not empty).
"""

import torch
import triton
import triton.language as tl


import math


def matmul_traffic(m, k, n):
    if m == 0 or k == 0 or n == 0:
        return 0, 0
    return m * k + k * n + m * n, 2 * m * k * n


def throughput(
    kind: str, shape: tuple[int, ...], dtype: torch.dtype, milliseconds: float
) -> tuple[float, float]:
    n = math.prod(shape)
    match kind:
        case "copy" | "transpose":
            elements, operations = 2 * n, 0
        case "vector_add":
            elements, operations = 3 * n, n
        case "softmax":
            elements, operations = 2 * n, 5 * n
        case "layernorm":
            elements, operations = 2 * n + 2 * shape[-1], 8 * n
        case "matmul":
            elements, operations = matmul_traffic(*shape)
        case _:
            raise ValueError(f"unknown kind {kind}")
    seconds = milliseconds * 1e-3
    return elements * dtype.itemsize / seconds / 1e9, operations / seconds / 1e12
