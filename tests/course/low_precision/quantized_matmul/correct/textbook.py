"""Strides one by one, blocks of 64, the pointers computed in the loop."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, M, N, K, G,
    stride_am, stride_ak,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        offs_k = k * BLOCK_K + tl.arange(0, BLOCK_K)
        a_mask = (offs_m[:, None] < M) & (offs_k[None, :] < K)
        b_mask = (offs_k[:, None] < K) & (offs_n[None, :] < N)
        a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
        a = tl.load(a_ptrs, mask=a_mask, other=0.0)
        w = tl.load(b_ptr + (offs_k[:, None] // 8) * N + offs_n[None, :], mask=b_mask, other=0)
        q = (w >> ((offs_k[:, None] % 8) * 4)) & 15
        rows = (offs_k[:, None] // G) * N + offs_n[None, :]
        s = tl.load(s_ptr + rows, mask=b_mask, other=0.0)
        z = tl.load(z_ptr + rows, mask=b_mask, other=0)
        b = ((q - z).to(tl.float32) * s.to(tl.float32)).to(a.dtype)
        acc += tl.dot(a, b)
    c_mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    c = acc.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], c, mask=c_mask)


def quantized_matmul(a, packed_b, scales, zeros):
    M, K = a.shape
    N = packed_b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    G = K // scales.shape[0]
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
    kernel[grid](
        a, packed_b, scales, zeros, c, M, N, K, G, a.stride(0), a.stride(1),
        BLOCK_M=64, BLOCK_N=64, BLOCK_K=64,
    )  # fmt: skip
    return c
