"""The scales are loaded first; each step's product is scaled before it is added."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m, mask_n = offs_m < M, offs_n < N
    scale_a = tl.load(scale_a_ptr + offs_m, mask=mask_m, other=0.0)
    scale_b = tl.load(scale_b_ptr + offs_n, mask=mask_n, other=0.0)
    scale = scale_a[:, None] * scale_b[None, :]
    result = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K)
        mask_k = offs_k < K
        a = tl.load(
            a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak,
            mask=mask_m[:, None] & mask_k[None, :], other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn,
            mask=mask_k[:, None] & mask_n[None, :], other=0.0,
        )  # fmt: skip
        result += tl.dot(a, b) * scale
    c_ptrs = c_ptr + offs_m[:, None] * N + offs_n[None, :]
    tl.store(c_ptrs, result.to(tl.bfloat16), mask=mask_m[:, None] & mask_n[None, :])


def fp8_matmul(a, b, scale_a, scale_b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=torch.bfloat16)
    kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        a, b, scale_a, scale_b, c, M, N, K, *a.stride(), *b.stride(),
        BLOCK_M=32, BLOCK_N=32, BLOCK_K=32,
    )  # fmt: skip
    return c
