"""A first kernel writes the expert of each tile down, a second one multiplies."""

import torch
import triton
import triton.language as tl


@triton.jit
def map_kernel(offsets_ptr, experts_ptr, rows_ptr, E, most, BM: tl.constexpr):
    before = 0
    for e in range(E):
        lo = tl.load(offsets_ptr + e)
        hi = tl.load(offsets_ptr + e + 1)
        for row in range(lo, hi, BM):
            tl.store(experts_ptr + before, e)
            tl.store(rows_ptr + before, row)
            before += 1
    while before < most:
        tl.store(experts_ptr + before, -1)
        before += 1


@triton.jit
def grouped_kernel(
    x_ptr, w_ptr, y_ptr, offsets_ptr, experts_ptr, rows_ptr, n_experts, T, N, K, stride_xm, stride_xk, stride_we, stride_wk, stride_wn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    tile = tl.program_id(0)
    expert = tl.load(experts_ptr + tile)
    if expert >= 0:
        start = tl.load(rows_ptr + tile)
        end = tl.load(offsets_ptr + expert + 1)
        offs_m = start + tl.arange(0, BLOCK_M).to(tl.int64)
        offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)
        mask_m = offs_m[:, None] < end
        mask_n = offs_n[None, :] < N
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k_start in range(0, K, BLOCK_K):
            offs_k = k_start + tl.arange(0, BLOCK_K).to(tl.int64)
            x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
            w_ptrs = w_ptr + expert.to(tl.int64) * stride_we + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn
            x = tl.load(x_ptrs, mask=mask_m & (offs_k[None, :] < K), other=0.0)
            w = tl.load(w_ptrs, mask=mask_n & (offs_k[:, None] < K), other=0.0)
            accumulator = tl.dot(x, w, accumulator, input_precision="ieee")
        tl.store(y_ptr + offs_m[:, None] * N + offs_n[None, :], accumulator.to(y_ptr.dtype.element_ty), mask=mask_m & mask_n)


def grouped_gemm(x, w, offsets):
    t = x.shape[0]
    e, k, n = w.shape
    y = torch.empty((t, n), dtype=x.dtype, device=x.device)
    block_m, block_n, block_k = 32, 64, 32
    grid = (triton.cdiv(t, block_m) + e, triton.cdiv(n, block_n))
    experts = torch.empty(grid[0], dtype=torch.int32, device=x.device)
    rows = torch.empty(grid[0], dtype=torch.int32, device=x.device)
    map_kernel[(1,)](offsets, experts, rows, e, grid[0], BM=block_m)
    grouped_kernel[grid](
        x, w, y, offsets, experts, rows, e, t, n, k, *x.stride(), *w.stride(),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
    )
    return y
