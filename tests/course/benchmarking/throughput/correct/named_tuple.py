"""A named tuple is a tuple; the dtype's size comes from a table of its own."""

from collections import namedtuple

import torch

Figures = namedtuple("Figures", "gigabytes teraflop")
SIZES = {
    torch.float64: 8,
    torch.float32: 4,
    torch.float16: 2,
    torch.bfloat16: 2,
    torch.uint8: 1,
}


def counted(kind, shape):
    if kind == "matmul":
        m, k, n = shape
        return m * k + k * n + m * n, 2 * m * k * n
    n_elements = torch.Size(shape).numel()
    if kind == "vector_add":
        return 3 * n_elements, n_elements
    if kind == "softmax":
        return 2 * n_elements, 5 * n_elements
    if kind == "layernorm":
        return 2 * n_elements + shape[-1] + shape[-1], 8 * n_elements
    return 2 * n_elements, 0


def throughput(kind, shape, dtype, milliseconds):
    numbers, operations = counted(kind, shape)
    return Figures(
        gigabytes=numbers * SIZES[dtype] / milliseconds * 1e3 / 1e9,
        teraflop=operations / milliseconds * 1e3 / 1e12,
    )
