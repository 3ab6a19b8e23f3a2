"""A table of tensors and operations for each kind, and `math.prod`."""

from math import prod

KINDS = {
    "copy": (2, 0),
    "transpose": (2, 0),
    "vector_add": (3, 1),
    "softmax": (2, 5),
    "layernorm": (2, 8),
}


def throughput(kind, shape, dtype, milliseconds):
    if kind == "matmul":
        m, k, n = shape
        return (m * k + k * n + m * n) * dtype.itemsize / milliseconds / 1e6, (
            2.0 * m * k * n / milliseconds / 1e9
        )
    tensors, operations = KINDS[kind]
    size = prod(shape)
    count = tensors * size + (2 * shape[-1] if kind == "layernorm" else 0)
    return count * dtype.itemsize / milliseconds / 1e6, operations * size / milliseconds / 1e9
