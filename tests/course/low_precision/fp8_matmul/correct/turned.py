"""The transpose of the result is computed, tile by tile, and turned at the store."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    offs_m = pid % tiles_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid // tiles_m * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + offs_m[None, :] * stride_am + offs_k[:, None] * stride_ak,
            mask=(offs_m[None, :] < M) & (offs_k[:, None] < K), other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + offs_k[None, :] * stride_bk + offs_n[:, None] * stride_bn,
            mask=(offs_k[None, :] < K) & (offs_n[:, None] < N), other=0.0,
        )  # fmt: skip
        acc = tl.dot(b, a, acc, max_num_imprecise_acc=BLOCK_K)
    scale_a = tl.load(scale_a_ptr + offs_m, mask=offs_m < M, other=0.0)
    scale_b = tl.load(scale_b_ptr + offs_n, mask=offs_n < N, other=0.0)
    c = tl.trans(acc * scale_b[:, None] * scale_a[None, :])
    c_ptrs = c_ptr + offs_m[:, None] * N + offs_n[None, :]
    tl.store(c_ptrs, c.to(tl.bfloat16), mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


def fp8_matmul(a, b, scale_a, scale_b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=torch.bfloat16, device=a.device)
    grid = (triton.cdiv(M, 32) * triton.cdiv(N, 64),)
    kernel[grid](
        a, b, scale_a, scale_b, c, M, N, K, *a.stride(), *b.stride(),
        BLOCK_M=32, BLOCK_N=64, BLOCK_K=32,
    )  # fmt: skip
    return c
