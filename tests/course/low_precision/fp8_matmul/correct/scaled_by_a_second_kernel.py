"""The first kernel stores the plain product in float32, the second one scales it."""

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(
    a_ptr, b_ptr, p_ptr, M, N, K, sam, sak, sbk, sbn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    p = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(tl.cdiv(K, BK)):
        k = i * BK + tl.arange(0, BK)
        a = tl.load(
            a_ptr + m[:, None] * sam + k[None, :] * sak,
            mask=(m < M)[:, None] & (k < K)[None, :], other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + k[:, None] * sbk + n[None, :] * sbn,
            mask=(k < K)[:, None] & (n < N)[None, :], other=0.0,
        )  # fmt: skip
        p += tl.dot(a, b)
    tl.store(p_ptr + m[:, None] * N + n[None, :], p, mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def scale_kernel(p_ptr, sa_ptr, sb_ptr, c_ptr, M, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    inside = (rows < M) & (columns < N)
    scaled = tl.load(p_ptr + rows * N + columns, mask=inside)
    scaled *= tl.load(sa_ptr + rows, mask=rows < M)
    scaled *= tl.load(sb_ptr + columns, mask=columns < N)
    tl.store(c_ptr + rows * N + columns, scaled.to(tl.bfloat16), mask=inside)


def fp8_matmul(a, b, scale_a, scale_b):
    M, K = a.shape
    N = b.shape[1]
    product = torch.empty((M, N), dtype=torch.float32, device=a.device)
    c = torch.empty_like(product, dtype=torch.bfloat16)
    product_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](
        a, b, product, M, N, K, *a.stride(), *b.stride(), BM=64, BN=64, BK=32
    )
    scale_kernel[(triton.cdiv(M, 8), triton.cdiv(N, 128))](
        product, scale_a, scale_b, c, M, N, ROWS=8, COLUMNS=128
    )
    return c
