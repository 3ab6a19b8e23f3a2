"""A small class that holds the work, from which the figures follow."""

import functools
import operator
from dataclasses import dataclass


@dataclass
class Work:
    numbers: int
    operations: int

    def figures(self, itemsize, milliseconds):
        seconds = milliseconds * 1e-3
        return self.numbers * itemsize / seconds * 1e-9, self.operations / seconds * 1e-12


def elementwise(shape, tensors, each, extra=0):
    size = functools.reduce(operator.mul, shape, 1)
    return Work(tensors * size + extra, each * size)


def matmul(shape):
    m, k, n = shape
    return Work(m * k + k * n + m * n, 2 * m * k * n)


WORK = {
    "copy": lambda shape: elementwise(shape, 2, 0),
    "transpose": lambda shape: elementwise(shape, 2, 0),
    "vector_add": lambda shape: elementwise(shape, 3, 1),
    "softmax": lambda shape: elementwise(shape, 2, 5),
    "layernorm": lambda shape: elementwise(shape, 2, 8, 2 * shape[-1]),
    "matmul": matmul,
}


def throughput(kind, shape, dtype, milliseconds):
    return WORK[kind](shape).figures(dtype.itemsize, milliseconds)
