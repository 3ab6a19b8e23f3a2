"""No tensor cores: products in float32, summed over k by `tl.sum`."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak,
            mask=(m[:, None] < M) & (k[None, :] < K), other=0.0,
        ).to(tl.float32)  # fmt: skip
        b = tl.load(
            b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn,
            mask=(k[:, None] < K) & (n[None, :] < N), other=0.0,
        ).to(tl.float32)  # fmt: skip
        total += tl.sum(a[:, :, None] * b[None, :, :], axis=1)
    scale = (
        tl.load(sa_ptr + m, mask=m < M, other=0.0)[:, None]
        * tl.load(sb_ptr + n, mask=n < N, other=0.0)[None, :]
    )
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total * scale, mask=inside)


def fp8_matmul(a, b, scale_a, scale_b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, device=a.device, dtype=torch.bfloat16)
    kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](
        a, b, scale_a, scale_b, c, M, N, K, *a.stride(), *b.stride(), 16, 16, 32
    )
    return c
