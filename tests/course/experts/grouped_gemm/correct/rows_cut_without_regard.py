"""Tiles of rows without regard to experts; each goes through the experts that it meets, row by row masked."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, w_ptr, out_ptr, offsets_ptr, T, N, K, E, xm, xk, we, wk, wn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    first = tl.program_id(0) * BM
    rows = first + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for e in range(0, E):
        lo = tl.load(offsets_ptr + e)
        hi = tl.load(offsets_ptr + e + 1)
        if (lo < first + BM) & (hi > first):
            mine = (rows >= lo) & (rows < hi)
            for k in range(0, K, BK):
                ks = k + tl.arange(0, BK)
                a = tl.load(x_ptr + rows.to(tl.int64)[:, None] * xm + ks.to(tl.int64)[None, :] * xk, mask=mine[:, None] & (ks < K)[None, :], other=0.0)
                b = tl.load(w_ptr + e.to(tl.int64) * we + ks.to(tl.int64)[:, None] * wk + cols.to(tl.int64)[None, :] * wn, mask=(ks < K)[:, None] & (cols < N)[None, :], other=0.0)
                total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(out_ptr + rows.to(tl.int64)[:, None] * N + cols[None, :], total.to(out_ptr.dtype.element_ty), mask=(rows < T)[:, None] & (cols < N)[None, :])


def grouped_gemm(x, w, offsets):
    (t, k), (e, _, n) = x.shape, w.shape
    out = torch.empty((t, n), device=x.device, dtype=x.dtype)
    kernel[(triton.cdiv(t, 32), triton.cdiv(n, 64))](x, w, out, offsets, t, n, k, e, *x.stride(), *w.stride(), BM=32, BN=64, BK=32)
    return out
