"""The accumulator has the dtype of x."""

import torch
import triton
import triton.language as tl


@triton.jit
def grouped_kernel(
    x_ptr, w_ptr, y_ptr, offsets_ptr, n_experts, T, N, K, stride_xm, stride_xk, stride_we, stride_wk, stride_wn,
    EXPERTS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    tile = tl.program_id(0)
    experts = tl.arange(0, EXPERTS)
    starts = tl.load(offsets_ptr + experts, mask=experts < n_experts, other=0)
    ends = tl.load(offsets_ptr + experts + 1, mask=experts < n_experts, other=0)
    tiles = tl.cdiv(ends - starts, BLOCK_M)
    expert = tl.sum((tl.cumsum(tiles) <= tile).to(tl.int32))
    before = tl.sum(tl.where(experts < expert, tiles, 0))
    if expert < n_experts:
        start = tl.load(offsets_ptr + expert)
        end = tl.load(offsets_ptr + expert + 1)
        offs_m = start + (tile - before) * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)
        offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)
        mask_m = offs_m[:, None] < end
        mask_n = offs_n[None, :] < N
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=y_ptr.dtype.element_ty)
        for k_start in range(0, K, BLOCK_K):
            offs_k = k_start + tl.arange(0, BLOCK_K).to(tl.int64)
            x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
            w_ptrs = w_ptr + expert.to(tl.int64) * stride_we + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn
            x = tl.load(x_ptrs, mask=mask_m & (offs_k[None, :] < K), other=0.0)
            w = tl.load(w_ptrs, mask=mask_n & (offs_k[:, None] < K), other=0.0)
            accumulator += tl.dot(x, w, input_precision="ieee").to(y_ptr.dtype.element_ty)
        tl.store(y_ptr + offs_m[:, None] * N + offs_n[None, :], accumulator.to(y_ptr.dtype.element_ty), mask=mask_m & mask_n)


def grouped_gemm(x, w, offsets):
    t = x.shape[0]
    e, k, n = w.shape
    y = torch.empty((t, n), dtype=x.dtype, device=x.device)
    block_m, block_n, block_k = 32, 64, 32
    grid = (triton.cdiv(t, block_m) + e, triton.cdiv(n, block_n))
    grouped_kernel[grid](
        x, w, y, offsets, e, t, n, k, *x.stride(), *w.stride(), EXPERTS=triton.next_power_of_2(e),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
    )
    return y
