"""A match statement, and helpers for the two figures."""


def size_of(shape):
    size = 1
    for length in shape:
        size *= length
    return size


def per_second(amount, milliseconds, unit):
    return amount / (milliseconds / 1000) / unit


def throughput(kind, shape, dtype, milliseconds):
    match kind:
        case "copy" | "transpose":
            count, operations = 2 * size_of(shape), 0
        case "vector_add":
            count, operations = 3 * size_of(shape), size_of(shape)
        case "softmax":
            count, operations = 2 * size_of(shape), 5 * size_of(shape)
        case "layernorm":
            count, operations = 2 * size_of(shape) + 2 * shape[-1], 8 * size_of(shape)
        case "matmul":
            m, k, n = shape
            count, operations = m * k + k * n + m * n, 2 * m * k * n
        case _:
            raise ValueError(kind)
    gigabytes = per_second(count * dtype.itemsize, milliseconds, 1e9)
    return gigabytes, per_second(operations, milliseconds, 1e12)
