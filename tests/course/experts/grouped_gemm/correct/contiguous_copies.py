"""Dense copies first, then one stride less for each tensor."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, w_ptr, out_ptr, offsets_ptr, E, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    left = tl.program_id(0)
    e = 0
    lo = tl.load(offsets_ptr)
    hi = tl.load(offsets_ptr + 1)
    while (e < E) & (left >= tl.cdiv(hi - lo, BM)):
        left -= tl.cdiv(hi - lo, BM)
        e += 1
        lo = hi
        hi = tl.load(offsets_ptr + e + 1, mask=e < E, other=0)
    if e < E:
        m = lo + left * BM + tl.arange(0, BM).to(tl.int64)
        n = tl.program_id(1) * BN + tl.arange(0, BN).to(tl.int64)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k0 in range(0, K, BK):
            k = k0 + tl.arange(0, BK).to(tl.int64)
            a = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=(m < hi)[:, None] & (k < K)[None, :], other=0.0)
            b = tl.load(w_ptr + (e.to(tl.int64) * K + k[:, None]) * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        tl.store(out_ptr + m[:, None] * N + n[None, :], acc.to(out_ptr.dtype.element_ty), mask=(m < hi)[:, None] & (n < N)[None, :])


def grouped_gemm(x, w, offsets):
    x, w = x.contiguous(), w.contiguous()
    T, (E, K, N) = x.size(0), w.size()
    out = torch.empty((T, N), dtype=x.dtype, device=x.device)
    kernel[(triton.cdiv(T, 32) + E, triton.cdiv(N, 32))](x, w, out, offsets, E, N, K, BM=32, BN=32, BK=32)
    return out
