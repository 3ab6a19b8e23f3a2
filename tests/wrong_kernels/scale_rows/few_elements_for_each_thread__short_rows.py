"""The block is as long as a row, however short that is."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, s_ptr, output_ptr, N: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    s = tl.load(s_ptr + row)
    for start in range(0, N, BLOCK_SIZE):
        cols = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + row * N + cols, mask=cols < N)
        tl.store(output_ptr + row * N + cols, x * s, mask=cols < N)


def scale_rows(x, s):
    m, n = x.shape
    output = torch.empty_like(x)
    if n:
        scale_kernel[(m,)](x, s, output, N=n, BLOCK_SIZE=triton.next_power_of_2(n))
    return output
