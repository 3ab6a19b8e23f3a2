"""Weight and bias are counted with 4 bytes a number."""

import math

import torch
import triton
import triton.language as tl


def throughput(kind, shape, dtype, milliseconds):
    itemsize = dtype.itemsize
    seconds = milliseconds / 1000
    if kind == "matmul":
        m, k, n = shape
        nbytes = (m * k + k * n + m * n) * itemsize
        flops = 2 * m * k * n
    elif kind == "layernorm":
        rows, cols = shape
        elements = rows * cols
        # x and y, and one weight and one bias for each column
        nbytes = 2 * elements * itemsize + 2 * cols * 4
        flops = 8 * elements
    else:
        elements = math.prod(shape)
        factor = 3 if kind == "vector_add" else 2
        nbytes = factor * elements * itemsize
        flops = {"vector_add": 1, "softmax": 5}.get(kind, 0) * elements
    return nbytes / seconds / 1e9, flops / seconds / 1e12
