"""The mask is declared to be the same for neighbours, whatever the length of a row."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, s_ptr, output_ptr, n, VECTOR: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    s = tl.load(s_ptr + row)
    for first in range(0, n, BLOCK_SIZE):
        cols = first + tl.arange(0, BLOCK_SIZE)
        mask = tl.max_constancy(cols < n, VECTOR)
        x = tl.load(x_ptr + row * n + cols, mask=mask)
        tl.store(output_ptr + row * n + cols, x * s, mask=mask)


def scale_rows(x, s):
    m, n = x.shape
    output = torch.empty_like(x)
    if n > 0:
        scale_kernel[(m,)](x, s, output, n, VECTOR=4, BLOCK_SIZE=1024)
    return output
