"""The columns are looked up in a table."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, s_ptr, columns_ptr, output_ptr, N: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    s = tl.load(s_ptr + row)
    for start in range(0, N, BLOCK_SIZE):
        lanes = start + tl.arange(0, BLOCK_SIZE)
        cols = tl.load(columns_ptr + lanes, mask=lanes < N, other=0)
        x = tl.load(x_ptr + row * N + cols, mask=lanes < N)
        tl.store(output_ptr + row * N + cols, x * s, mask=lanes < N)


@triton.jit
def count_kernel(columns_ptr, n, BLOCK_SIZE: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(columns_ptr + lanes, lanes, mask=lanes < n)


def scale_rows(x, s):
    m, n = x.shape
    output = torch.empty_like(x)
    columns = torch.empty(n, dtype=torch.int32, device=x.device)
    if n:
        count_kernel[(triton.cdiv(n, 256),)](columns, n, BLOCK_SIZE=256)
        scale_kernel[(m,)](x, s, columns, output, N=n, BLOCK_SIZE=1024)
    return output
