"""The strides of b are exchanged, in the first pointers and in the steps along k."""

import torch
import triton
import triton.language as tl


@triton.jit
def _fp8_up(a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, m, n, k, sam, sak, sbk, sbn, ssa, ssb,
            BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tm = tl.cdiv(m, BM)
    tn = tl.cdiv(n, BN)
    pm, pn = tl.swizzle2d(pid // tn, pid % tn, tm, tn, GROUP)
    rm = (pm * BM + tl.arange(0, BM)).to(tl.int64)
    rn = (pn * BN + tl.arange(0, BN)).to(tl.int64)
    a_ptrs = a_ptr + (rm % m)[:, None] * sam + tl.arange(0, BK)[None, :] * sak
    b_ptrs = b_ptr + tl.arange(0, BK)[:, None] * sbn + (rn % n)[None, :] * sbk
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    left = k
    while left > 0:
        rk = tl.arange(0, BK)
        a = tl.load(a_ptrs, mask=rk[None, :] < left, other=0.0).to(tl.float16)
        b = tl.load(b_ptrs, mask=rk[:, None] < left, other=0.0).to(tl.float16)
        acc += tl.dot(a, b)
        a_ptrs += BK * sak
        b_ptrs += BK * sbn
        left -= BK
    sa = tl.load(sa_ptr + (rm % m) * ssa)
    sb = tl.load(sb_ptr + (rn % n) * ssb)
    acc = acc * (sa[:, None] * sb[None, :])
    tl.store(c_ptr + rm[:, None] * n + rn[None, :], acc.to(c_ptr.dtype.element_ty), mask=(rm[:, None] < m) & (rn[None, :] < n))


def fp8_matmul(a, b, scale_a, scale_b):
    m, k = a.shape
    k2, n = b.shape
    assert k == k2, "inner sizes differ"
    c = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
    if m == 0 or n == 0:
        return c
    grid = lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)
    _fp8_up[grid](a, b, scale_a, scale_b, c, m, n, k, *a.stride(), *b.stride(), *scale_a.stride(), *scale_b.stride(),
                  BM=16, BN=64, BK=64, GROUP=4)
    return c
