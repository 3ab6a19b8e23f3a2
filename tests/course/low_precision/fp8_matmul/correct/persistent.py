"""A few programs take tile after tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tiles_n = tl.cdiv(N, BLOCK_N)
    tiles = tl.cdiv(M, BLOCK_M) * tiles_n
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        offs_m = tile // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
        offs_n = tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            offs_k = k * BLOCK_K + tl.arange(0, BLOCK_K)
            a = tl.load(
                a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak,
                mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0,
            )  # fmt: skip
            b = tl.load(
                b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn,
                mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0,
            )  # fmt: skip
            accumulator = tl.dot(a, b, acc=accumulator)
        scale_a = tl.load(scale_a_ptr + offs_m, mask=offs_m < M, other=0.0)
        scale_b = tl.load(scale_b_ptr + offs_n, mask=offs_n < N, other=0.0)
        accumulator *= scale_a[:, None] * scale_b[None, :]
        tl.store(
            c_ptr + offs_m[:, None] * N + offs_n[None, :],
            accumulator.to(c_ptr.dtype.element_ty),
            mask=(offs_m[:, None] < M) & (offs_n[None, :] < N),
        )


def fp8_matmul(a, b, scale_a, scale_b):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), dtype=torch.bfloat16, device=a.device)
    tiles = triton.cdiv(M, 32) * triton.cdiv(N, 32)
    kernel[(min(3, tiles),)](
        a, b, scale_a, scale_b, c, M, N, K, *a.stride(), *b.stride(),
        BLOCK_M=32, BLOCK_N=32, BLOCK_K=64,
    )  # fmt: skip
    return c
