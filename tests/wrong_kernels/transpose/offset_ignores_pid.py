"""Every program moves the tile in the upper left corner."""

import torch
import triton
import triton.language as tl

@triton.jit
def transpose_kernel(x_ptr, y_ptr, M, N, sm, sn, BLOCK: tl.constexpr):
    m = tl.arange(0, BLOCK).to(tl.int64)[:, None]
    n = tl.arange(0, BLOCK).to(tl.int64)[None, :]
    inside = (m < M) & (n < N)
    tl.store(y_ptr + n * M + m, tl.load(x_ptr + m * sm + n * sn, mask=inside), mask=inside)


def transpose(x):
    M, N = x.shape
    y = torch.empty((N, M), dtype=x.dtype, device=x.device)
    transpose_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](x, y, M, N, *x.stride(), BLOCK=16)
    return y
