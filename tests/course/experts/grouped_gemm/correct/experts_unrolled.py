"""The number of experts is a constant; a chain of tl.where finds the tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, w_ptr, o_ptr, offs_ptr, N, K, sxm, sxk, swe, swk, swn, E: tl.constexpr, TILES_N: tl.constexpr,
           BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr):
    left = tl.program_id(0) // TILES_N
    pid_n = tl.program_id(0) % TILES_N
    expert = tl.full((), -1, tl.int64)
    row = tl.full((), 0, tl.int32)
    end = tl.full((), 0, tl.int32)
    for e in range(E):
        lo = tl.load(offs_ptr + e)
        hi = tl.load(offs_ptr + e + 1)
        n_tiles = tl.cdiv(hi - lo, BLOCK_SIZE_M)
        hit = (expert < 0) & (left < n_tiles)
        row = tl.where(hit, lo + left * BLOCK_SIZE_M, row)
        end = tl.where(hit, hi, end)
        expert = tl.where(hit, e, expert)
        left -= n_tiles
    if expert >= 0:
        offs_m = row + tl.arange(0, BLOCK_SIZE_M).to(tl.int64)
        offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N).to(tl.int64)
        acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
            offs_k = k * BLOCK_SIZE_K + tl.arange(0, BLOCK_SIZE_K).to(tl.int64)
            a = tl.load(x_ptr + offs_m[:, None] * sxm + offs_k[None, :] * sxk, mask=(offs_m[:, None] < end) & (offs_k[None, :] < K), other=0.0)
            b = tl.load(w_ptr + expert * swe + offs_k[:, None] * swk + offs_n[None, :] * swn, mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        tl.store(o_ptr + offs_m[:, None] * N + offs_n[None, :], acc.to(o_ptr.dtype.element_ty), mask=(offs_m[:, None] < end) & (offs_n[None, :] < N))


def grouped_gemm(x, w, offsets):
    T, E, (K, N) = x.shape[0], w.shape[0], w.shape[1:]
    o = torch.empty((T, N), dtype=x.dtype, device=x.device)
    tiles_n = triton.cdiv(N, 64)
    if T * N:
        kernel[((triton.cdiv(T, 64) + E) * tiles_n,)](x, w, o, offsets, N, K, *x.stride(), *w.stride(), E=E, TILES_N=tiles_n,
                                                      BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=16)
    return o
