"""A grid over experts and the most tiles that one may have; programs without rows return at once."""

import torch
import triton
import triton.language as tl


@triton.jit
def expert_kernel(x_ptr, w_ptr, out_ptr, offsets_ptr, N, K, stride_xm, stride_xk, stride_we, stride_wk, stride_wn,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    expert = tl.program_id(2).to(tl.int64)
    start = tl.load(offsets_ptr + expert)
    end = tl.load(offsets_ptr + expert + 1)
    row = start + tl.program_id(1) * BLOCK_M
    if row >= end:
        return
    offs_m = row + tl.arange(0, BLOCK_M).to(tl.int64)
    offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        offs_k = k * BLOCK_K + tl.arange(0, BLOCK_K).to(tl.int64)
        x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk,
                    mask=(offs_m < end)[:, None] & (offs_k < K)[None, :], other=0)
        w = tl.load(w_ptr + expert * stride_we + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn,
                    mask=(offs_k < K)[:, None] & (offs_n < N)[None, :], other=0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    tl.store(out_ptr + offs_m[:, None] * N + offs_n[None, :], acc.to(out_ptr.dtype.element_ty),
             mask=(offs_m < end)[:, None] & (offs_n < N)[None, :])


def grouped_gemm(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    t = x.shape[0]
    e, k, n = w.shape
    out = torch.empty(t, n, dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK_N"]), triton.cdiv(t, meta["BLOCK_M"]), e)
    expert_kernel[grid](x, w, out, offsets, n, k, x.stride(0), x.stride(1), w.stride(0), w.stride(1), w.stride(2),
                        BLOCK_M=128, BLOCK_N=32, BLOCK_K=32)
    return out
