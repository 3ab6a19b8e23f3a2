"""A program for each expert and column block, which walks down its rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, w_ptr, out_ptr, offsets_ptr, N, K, xm, xk, we, wk, wn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    e = tl.program_id(0)
    lo, hi = tl.load(offsets_ptr + e), tl.load(offsets_ptr + e + 1)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    w_ptr += e.to(tl.int64) * we
    for top in tl.range(lo, hi, BM):
        m = top + tl.arange(0, BM)
        acc = tl.zeros((BM, BN), tl.float32)
        for k0 in tl.range(0, K, BK):
            k = k0 + tl.arange(0, BK)
            a = tl.load(x_ptr + m[:, None].to(tl.int64) * xm + k[None, :].to(tl.int64) * xk, (m < hi)[:, None] & (k < K)[None, :], 0.0)
            b = tl.load(w_ptr + k[:, None].to(tl.int64) * wk + n[None, :].to(tl.int64) * wn, (k < K)[:, None] & (n < N)[None, :], 0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        tl.store(out_ptr + m[:, None].to(tl.int64) * N + n[None, :], acc, (m < hi)[:, None] & (n < N)[None, :])


def grouped_gemm(x, w, offsets):
    out = torch.empty((x.shape[0], w.shape[2]), dtype=x.dtype, device=x.device)
    kernel[(w.shape[0], triton.cdiv(w.shape[2], 32))](x, w, out, offsets, w.shape[2], w.shape[1], *x.stride(), *w.stride(), BM=16, BN=32, BK=64)
    return out
