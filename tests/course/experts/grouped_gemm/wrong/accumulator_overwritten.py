"""The accumulator is assigned in each step."""

import torch
import triton
import triton.language as tl


@triton.jit
def walk(x, w, out, offsets, E, T, N, K, sxm, sxk, swe, swk, swn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    before = 0
    for e in range(E):
        lo = tl.load(offsets + e)
        hi = tl.load(offsets + e + 1)
        tiles = tl.cdiv(hi - lo, BM)
        if (tile >= before) & (tile < before + tiles):
            rows = (lo + (tile - before) * BM + tl.arange(0, BM)).to(tl.int64)
            cols = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, K, BK):
                ks = (k + tl.arange(0, BK)).to(tl.int64)
                a = tl.load(x + rows[:, None] * sxm + ks[None, :] * sxk, mask=(rows < hi)[:, None] & (ks < K)[None, :], other=0.0)
                b = tl.load(w + e * swe + ks[:, None] * swk + cols[None, :] * swn, mask=(ks < K)[:, None] & (cols < N)[None, :], other=0.0)
                acc = tl.dot(a, b, input_precision="ieee")
            tl.store(out + rows[:, None] * N + cols[None, :], acc.to(out.dtype.element_ty), mask=(rows < hi)[:, None] & (cols < N)[None, :])
        before += tiles


def grouped_gemm(x, w, offsets):
    T, E, K, N = x.shape[0], *w.shape
    out = torch.empty((T, N), dtype=x.dtype, device=x.device)
    walk[(triton.cdiv(T, 64) + E, triton.cdiv(N, 32))](x, w, out, offsets, E, T, N, K, *x.stride(), *w.stride(), BM=64, BN=32, BK=16)
    return out
