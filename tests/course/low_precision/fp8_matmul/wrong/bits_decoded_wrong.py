"""The bits are decoded by hand, with a bias of 8."""

import torch
import triton
import triton.language as tl


@triton.jit
def _decode(u):
    bits = u.to(tl.int32)
    sign = tl.where((bits & 0x80) != 0, -1.0, 1.0)
    e = (bits >> 3) & 0xF
    f = (bits & 7).to(tl.float32)
    power = tl.exp2((tl.maximum(e, 1) - 8).to(tl.float32))
    mag = tl.where(e == 0, f * 0.125, 1.0 + f * 0.125) * power
    mag = tl.where((bits & 0x7F) == 0x7F, float("nan"), mag)
    return sign * mag


@triton.jit
def _bits(a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, m, n, k, sam, sak, sbk, sbn, ssa, ssb,
          BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(1) * BM + tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for t in range(tl.cdiv(k, BK)):
        rk = t * BK + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * sam + rk[None, :] * sak, mask=(rm[:, None] < m) & (rk[None, :] < k), other=0)
        b = tl.load(b_ptr + rk[:, None] * sbk + rn[None, :] * sbn, mask=(rk[:, None] < k) & (rn[None, :] < n), other=0)
        acc += tl.dot(_decode(a), _decode(b), input_precision="ieee")
    acc *= tl.load(sa_ptr + rm * ssa, mask=rm < m, other=0.0)[:, None]
    acc *= tl.load(sb_ptr + rn * ssb, mask=rn < n, other=0.0)[None, :]
    tl.store(c_ptr + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < m) & (rn[None, :] < n))


def fp8_matmul(a, b, scale_a, scale_b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
    if m and n:
        au, bu = a.view(torch.uint8), b.view(torch.uint8)
        _bits[(triton.cdiv(n, 32), triton.cdiv(m, 16))](au, bu, scale_a, scale_b, c, m, n, k, *au.stride(), *bu.stride(),
                                                        scale_a.stride(0), scale_b.stride(0), BM=16, BN=32, BK=32)
    return c
