"""The masks by row count the last row of an expert to the next one."""

import torch
import triton
import triton.language as tl


@triton.jit
def cut(x_ptr, w_ptr, out_ptr, offsets_ptr, T, N, K, E, xm, xk, we, wk, wn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    first = tl.program_id(0) * BM
    rows = first + tl.arange(0, BM).to(tl.int64)
    cols = tl.program_id(1) * BN + tl.arange(0, BN).to(tl.int64)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for e in range(0, E):
        lo = tl.load(offsets_ptr + e)
        hi = tl.load(offsets_ptr + e + 1)
        if (lo < first + BM) & (hi > first):
            mine = (rows >= lo - (e > 0)) & (rows < hi - (e < E - 1))
            for k0 in range(0, K, BK):
                k = k0 + tl.arange(0, BK).to(tl.int64)
                a = tl.load(x_ptr + rows[:, None] * xm + k[None, :] * xk, mask=mine[:, None] & (k < K)[None, :], other=0.0)
                b = tl.load(w_ptr + e.to(tl.int64) * we + k[:, None] * wk + cols[None, :] * wn, mask=(k < K)[:, None] & (cols < N)[None, :], other=0.0)
                total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(out_ptr + rows[:, None] * N + cols[None, :], total.to(out_ptr.dtype.element_ty), mask=(rows < T)[:, None] & (cols < N)[None, :])


def grouped_gemm(x, w, offsets):
    (t, k), (e, _, n) = x.shape, w.shape
    out = torch.empty((t, n), device=x.device, dtype=x.dtype)
    cut[(triton.cdiv(t, 32), triton.cdiv(n, 64))](x, w, out, offsets, t, n, k, e, *x.stride(), *w.stride(), BM=32, BN=64, BK=32)
    return out
