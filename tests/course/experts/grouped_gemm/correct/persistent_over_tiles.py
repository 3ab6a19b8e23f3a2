"""A fixed number of programs; each goes through all experts and takes every P-th tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, w_ptr, y_ptr, offsets_ptr, n_experts, N, K, stride_xm, stride_xk, stride_we, stride_wk, stride_wn,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tile = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK_N)
    done = 0
    for expert in range(n_experts):
        start = tl.load(offsets_ptr + expert)
        end = tl.load(offsets_ptr + expert + 1)
        count = tl.cdiv(end - start, BLOCK_M) * tiles_n
        while tile < done + count:
            number = tile - done
            offs_m = start + number // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)
            offs_n = number % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)
            accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for k_start in range(0, K, BLOCK_K):
                offs_k = k_start + tl.arange(0, BLOCK_K).to(tl.int64)
                x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk,
                            mask=(offs_m[:, None] < end) & (offs_k[None, :] < K), other=0.0)
                w = tl.load(w_ptr + expert.to(tl.int64) * stride_we + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn,
                            mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0)
                accumulator = tl.dot(x, w, accumulator, input_precision="ieee")
            tl.store(y_ptr + offs_m[:, None] * N + offs_n[None, :], accumulator.to(y_ptr.dtype.element_ty),
                     mask=(offs_m[:, None] < end) & (offs_n[None, :] < N))
            tile += tl.num_programs(0)
        done += count


def grouped_gemm(x, w, offsets):
    n_experts, K, N = w.shape
    y = torch.empty((x.shape[0], N), dtype=x.dtype, device=x.device)
    kernel[(24,)](x, w, y, offsets, n_experts, N, K, *x.stride(), *w.stride(), BLOCK_M=32, BLOCK_N=32, BLOCK_K=32)
    return y
