"""Cuts rows into tiles, each row range found by halving the offsets; a tile ends where its expert does."""

import torch
import triton
import triton.language as tl


@triton.jit
def first_beyond(offsets_ptr, count, row):
    """The number of offsets that are row or less, halving what is left in each step."""
    low = row * 0
    high = count + row * 0
    while low < high:
        middle = (low + high) // 2
        if tl.load(offsets_ptr + middle) <= row:
            low = middle + 1
        else:
            high = middle
    return low


@triton.jit
def kernel(x_ptr, w_ptr, out_ptr, offsets_ptr, T, E, N, K, xm, xk, we, wk, wn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    row = tl.program_id(0) * BM
    last = tl.minimum(row + BM, T)
    while row < last:
        expert = first_beyond(offsets_ptr, E + 1, row) - 1
        end = tl.minimum(tl.load(offsets_ptr + expert + 1), last)
        rows = row + tl.arange(0, BM)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            ks = k + tl.arange(0, BK)
            a = tl.load(x_ptr + rows.to(tl.int64)[:, None] * xm + ks.to(tl.int64)[None, :] * xk, mask=(rows < end)[:, None] & (ks < K)[None, :], other=0.0)
            b = tl.load(w_ptr + expert.to(tl.int64) * we + ks.to(tl.int64)[:, None] * wk + cols.to(tl.int64)[None, :] * wn, mask=(ks < K)[:, None] & (cols < N)[None, :], other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        tl.store(out_ptr + rows.to(tl.int64)[:, None] * N + cols[None, :], acc.to(out_ptr.dtype.element_ty), mask=(rows < end)[:, None] & (cols < N)[None, :])
        row = end


def grouped_gemm(x, w, offsets):
    T, N = x.shape[0], w.shape[2]
    out = torch.empty((T, N), dtype=x.dtype, device=x.device)
    kernel[(triton.cdiv(T, 64), triton.cdiv(N, 64))](x, w, out, offsets, T, w.shape[0], N, w.shape[1], *x.stride(), *w.stride(), BM=64, BN=64, BK=32)
    return out
