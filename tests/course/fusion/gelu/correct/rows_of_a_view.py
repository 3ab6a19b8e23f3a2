"""Sees the tensor as rows: one launch for each leading index, strides for the last two."""

import torch
import triton
import triton.language as tl

@triton.jit
def rows_kernel(x_ptr, y_ptr, M, N, sm, sn, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    n = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    mask = (m < M) & (n < N)
    x = tl.load(x_ptr + m * sm + n * sn, mask=mask).to(tl.float32)
    x = tl.where(mask, x, 0.0)
    u = x * (1.5957691216057308 + 0.07135481282553313 * x * x)
    tl.store(y_ptr + m * N + n, x / (1.0 + tl.exp(-u)), mask=mask)


def fill(x, y):
    if x.dim() > 2:
        for i in range(x.shape[0]):
            fill(x[i], y[i])
        return
    if x.dim() == 1:
        x, y = x[None, :], y[None, :]
    M, N = x.shape
    rows_kernel[(triton.cdiv(M, 8), triton.cdiv(N, 128))](x, y, M, N, x.stride(0), x.stride(1), BM=8, BN=128)


def gelu(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    fill(x, y)
    return y
