"""NumPy counts, so what comes back are NumPy's own numbers."""

import numpy as np
import torch


def throughput(kind, shape, dtype, milliseconds):
    bytes_each = torch.tensor([], dtype=dtype).element_size()
    if kind == "matmul":
        m, k, n = np.array(shape, dtype=np.float64)
        numbers, operations = m * k + k * n + m * n, 2 * m * k * n
    else:
        size = np.prod(np.array(shape, dtype=np.float64))
        numbers = size * (3 if kind == "vector_add" else 2)
        if kind == "layernorm":
            numbers = numbers + 2 * np.float64(shape[-1])
        operations = size * {"vector_add": 1, "softmax": 5, "layernorm": 8}.get(kind, 0)
    rate = np.float64(1e3) / milliseconds
    return np.float64(numbers * bytes_each * rate / 1e9), np.float64(operations * rate / 1e12)
