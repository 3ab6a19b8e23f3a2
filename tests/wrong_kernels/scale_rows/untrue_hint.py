"""Every row is declared to start at a multiple of four, whatever its length."""

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
        x = tl.load(x_ptr + start + cols, mask=cols < n)
        tl.store(output_ptr + start + cols, x * s, mask=cols < n)


def scale_rows(x, s):
    m, n = x.shape
    output = torch.empty_like(x)
    if n > 0:
        scale_kernel[(m,)](x, s, output, n, VECTOR=16 // x.element_size(), BLOCK_SIZE=1024)
    return output
