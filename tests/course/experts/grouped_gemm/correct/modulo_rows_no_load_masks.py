"""Rows and columns are wrapped round for the loads; only k and the store have masks."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, w_ptr, out_ptr, offsets_ptr, E, N, K, xm, xk, we, wk, wn, EP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    lanes = tl.arange(0, EP)
    lo = tl.load(offsets_ptr + tl.minimum(lanes, E))
    hi = tl.load(offsets_ptr + tl.minimum(lanes + 1, E))
    sums = tl.cumsum((hi - lo + BM - 1) // BM)
    tile = tl.program_id(0)
    e = tl.sum(tl.where(sums <= tile, 1, 0))
    if e >= E:
        return
    start = tl.load(offsets_ptr + e)
    count = tl.load(offsets_ptr + e + 1) - start
    within = (tile - tl.max(tl.where(sums <= tile, sums, 0))) * BM + tl.arange(0, BM)
    m = (start + within % count).to(tl.int64)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    wrapped = (n % N).to(tl.int64)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        a = tl.load(x_ptr + m[:, None] * xm + k[None, :].to(tl.int64) * xk, mask=k[None, :] < K, other=0.0)
        b = tl.load(w_ptr + e.to(tl.int64) * we + k[:, None].to(tl.int64) * wk + wrapped[None, :] * wn, mask=k[:, None] < K, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc.to(out_ptr.dtype.element_ty), mask=(within < count)[:, None] & (n < N)[None, :])


def grouped_gemm(x, w, offsets):
    t, (e, k, n) = x.shape[0], w.shape
    out = torch.empty((t, n), dtype=x.dtype, device=x.device)
    if t and n:
        kernel[(triton.cdiv(t, 16) + e, triton.cdiv(n, 16))](x, w, out, offsets, e, n, k, *x.stride(), *w.stride(),
                                                             EP=triton.next_power_of_2(e), BM=16, BN=16, BK=16)
    return out
