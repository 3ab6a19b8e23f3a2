"""The sum is rounded to bfloat16 before it is scaled."""

import torch
import triton
import triton.language as tl



@triton.jit
def fp8_matmul_kernel(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, c_ptr, m, n, k,
    a_m, a_k, b_k, b_n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows64 = rows.to(tl.int64)
    cols64 = cols.to(tl.int64)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        ks = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows64[:, None] * a_m + ks.to(tl.int64)[None, :] * a_k,
                    mask=(rows < m)[:, None] & (ks < k)[None, :], other=0.0)
        b = tl.load(b_ptr + ks.to(tl.int64)[:, None] * b_k + cols64[None, :] * b_n,
                    mask=(ks < k)[:, None] & (cols < n)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
    scale_a = tl.load(scale_a_ptr + rows, mask=rows < m, other=0.0)
    scale_b = tl.load(scale_b_ptr + cols, mask=cols < n, other=0.0)
    out = acc.to(tl.bfloat16).to(tl.float32) * scale_a[:, None] * scale_b[None, :]
    tl.store(c_ptr + rows64[:, None] * n + cols64[None, :], out.to(tl.bfloat16),
             mask=(rows < m)[:, None] & (cols < n)[None, :])


def fp8_matmul(a, b, scale_a, scale_b):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=torch.bfloat16)
    if m == 0 or n == 0:
        return c
    BLOCK_M, BLOCK_N, BLOCK_K = 64, 64, 64
    fp8_matmul_kernel[(triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N))](
        a, b, scale_a, scale_b, c, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1),
        BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K,
    )
    return c
