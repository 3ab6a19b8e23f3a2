"""Pointers to a and to the words move on by a block; scale and zero follow the step's rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, M, N, K, G,
    stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    offs_m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + (offs_k[:, None] // 8) * stride_bk + offs_n[None, :] * stride_bn
    shifter = (offs_k % 8) * 4
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        b_mask = (offs_k[:, None] < left) & (offs_n[None, :] < N)
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=b_mask, other=0)
        g = (k * BLOCK_K + offs_k) // G
        scales = tl.load(s_ptr + g[:, None] * N + offs_n[None, :], mask=b_mask, other=0.0)
        zeros = tl.load(z_ptr + g[:, None] * N + offs_n[None, :], mask=b_mask, other=0)
        # multiplied out: q * s - z * s
        b = ((b >> shifter[:, None]) & 0xF).to(tl.float32) * scales - zeros * scales.to(tl.float32)
        acc += tl.dot(a, b.to(a.dtype))
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += (BLOCK_K // 8) * stride_bk
    c_ptrs = c_ptr + offs_m[:, None] * N + offs_n[None, :]
    c_mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(c_ptrs, acc.to(a_ptr.dtype.element_ty), mask=c_mask)


def quantized_matmul(a, packed_b, scales, zeros):
    M, K = a.shape
    N = packed_b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    grid = (triton.cdiv(N, 64), triton.cdiv(M, 16))
    kernel[grid](
        a, packed_b, scales, zeros, c, M, N, K, K // scales.shape[0],
        a.stride(0), a.stride(1), packed_b.stride(0), packed_b.stride(1),
        BLOCK_M=16, BLOCK_N=64, BLOCK_K=64,
    )  # fmt: skip
    return c
