"""Exact fractions, and integers where nothing is computed."""

from fractions import Fraction
from math import prod


def throughput(kind, shape, dtype, milliseconds):
    seconds = Fraction(milliseconds) / 1000
    reads = {"vector_add": 2}.get(kind, 1) * prod(shape)
    writes = prod(shape)
    work = prod(shape) * {"vector_add": 1, "softmax": 5, "layernorm": 8, "matmul": 2}.get(kind, 0)
    if kind == "layernorm":
        reads += 2 * shape[-1]
    if kind == "matmul":
        reads, writes = shape[0] * shape[1] + shape[1] * shape[2], shape[0] * shape[2]
    gigabytes = Fraction((reads + writes) * dtype.itemsize) / seconds / 10**9
    return gigabytes, Fraction(work) / seconds / 10**12
