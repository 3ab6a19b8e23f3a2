"""Functions of the Triton language imported by their own names, one under another name."""

import torch
from triton import cdiv, jit
from triton import language as T
from triton.language import arange, load, program_id
from triton.language import store as put


@jit
def mine(start, size: T.constexpr):
    return start * size + arange(0, size)


@jit
def add(x, y, z, n, B: T.constexpr):
    i = mine(program_id(0), B)
    put(z + i, load(x + i, mask=i < n) + load(y + i, mask=i < n), mask=i < n)


def vector_add(x, y):
    z = torch.empty_like(x)
    if z.numel():
        add[(cdiv(z.numel(), 128),)](x, y, z, z.numel(), B=128)
    return z
