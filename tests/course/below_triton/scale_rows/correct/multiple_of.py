"""The start of a row is declared a multiple where it is one."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, s_ptr, output_ptr, n, VECTOR: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    start = tl.multiple_of(row * n, VECTOR)
    s = tl.load(s_ptr + row)
    for first in range(0, n, BLOCK_SIZE):
        cols = first + tl.arange(0, BLOCK_SIZE)
        mask = tl.max_constancy(cols < n, VECTOR)
        x = tl.load(x_ptr + start + cols, mask=mask)
        tl.store(output_ptr + start + cols, x * s, mask=mask)


def scale_rows(x, s):
    m, n = x.shape
    output = torch.empty_like(x)
    vector = 16 // x.element_size() if n * x.element_size() % 16 == 0 else 1
    if n > 0:
        scale_kernel[(m,)](x, s, output, n, VECTOR=vector, BLOCK_SIZE=1024)
    return output
