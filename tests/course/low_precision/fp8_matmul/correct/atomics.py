"""Programs share k and add their parts with atomics; a second kernel scales the sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(
    a_ptr, b_ptr, sum_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.program_id(2) * BK + tl.arange(0, BK)
    in_m, in_n, in_k = m < M, n < N, k < K
    a_ptrs = a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak
    b_ptrs = b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn
    a = tl.load(a_ptrs, mask=in_m[:, None] & in_k[None, :], other=0.0)
    b = tl.load(b_ptrs, mask=in_k[:, None] & in_n[None, :], other=0.0)
    part = tl.dot(a, b)
    tl.atomic_add(sum_ptr + m[:, None] * N + n[None, :], part, mask=in_m[:, None] & in_n[None, :])


@triton.jit
def scale_kernel(sum_ptr, scale_a_ptr, scale_b_ptr, c_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = column < N
    scale = tl.load(scale_a_ptr + row) * tl.load(scale_b_ptr + column, mask=mask)
    total = tl.load(sum_ptr + row * N + column, mask=mask)
    tl.store(c_ptr + row * N + column, (total * scale).to(tl.bfloat16), mask=mask)


def fp8_matmul(a, b, scale_a, scale_b):
    (M, K), N = a.shape, b.shape[1]
    total = torch.zeros((M, N), dtype=torch.float32, device=a.device)
    c = torch.empty((M, N), dtype=torch.bfloat16, device=a.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), triton.cdiv(K, 64))
    add_kernel[grid](a, b, total, M, N, K, *a.stride(), *b.stride(), BM=32, BN=32, BK=64)
    scale_kernel[(M, triton.cdiv(N, 64))](total, scale_a, scale_b, c, N, BLOCK=64)
    return c
