"""The rows of the output are taken to be n_cols long."""

import torch
import triton
import triton.language as tl

@triton.jit
def transpose_kernel(x_ptr, y_ptr, M, N, sm, sn, BM: tl.constexpr, BN: tl.constexpr):
    m = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)[:, None]
    n = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)[None, :]
    inside = (m < M) & (n < N)
    tl.store(y_ptr + n * N + m, tl.load(x_ptr + m * sm + n * sn, mask=inside), mask=inside)


def transpose(x):
    M, N = x.shape
    y = torch.empty((N, M), dtype=x.dtype, device=x.device)
    transpose_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 64))](x, y, M, N, *x.stride(), BM=16, BN=64)
    return y
