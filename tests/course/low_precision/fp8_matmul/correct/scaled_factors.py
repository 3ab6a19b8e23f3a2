"""Both tiles are scaled in float32, and multiplied in float32."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    offs_m = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M))[:, None]
    offs_n = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N))[None, :]
    scale_a = tl.load(scale_a_ptr + offs_m, mask=offs_m < M, other=0.0)
    scale_b = tl.load(scale_b_ptr + offs_n, mask=offs_n < N, other=0.0)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K)
        down, across = offs_k[:, None], offs_k[None, :]
        a_ptrs = a_ptr + offs_m * stride_am + across * stride_ak
        b_ptrs = b_ptr + down * stride_bk + offs_n * stride_bn
        a = tl.load(a_ptrs, mask=(offs_m < M) & (across < K), other=0.0).to(tl.float32) * scale_a
        b = tl.load(b_ptrs, mask=(down < K) & (offs_n < N), other=0.0).to(tl.float32) * scale_b
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(c_ptr + offs_m * N + offs_n, acc.to(tl.bfloat16), mask=(offs_m < M) & (offs_n < N))


def fp8_matmul(a, b, scale_a, scale_b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=torch.bfloat16, device=a.device)
    kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
        a, b, scale_a, scale_b, c, M, N, K, *a.stride(), *b.stride(), 32, 32, 32
    )
    return c
