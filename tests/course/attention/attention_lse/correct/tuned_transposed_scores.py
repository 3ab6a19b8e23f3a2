"""Autotuned; the tile of scores lies the other way round, keys down and queries across."""

import torch
import triton
import triton.language as tl

configs = [triton.Config({"BM": bm, "BN": bn}, num_warps=w) for bm, bn, w in ((16, 16, 2), (32, 16, 4), (16, 64, 4))]


@triton.autotune(configs, key=["m", "n", "d"])
@triton.jit
def turned(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, m, n, scale, CAUSAL: tl.constexpr, d: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BM + tl.arange(0, BM)
    c = tl.arange(0, d)
    qt = tl.load(q_ptr + (head * m + i)[None, :] * d + c[:, None], mask=i[None, :] < m, other=0.0)
    mx = tl.full((BM,), float("-inf"), tl.float32)
    sm = tl.zeros((BM,), tl.float32)
    acc_t = tl.zeros((d, BM), tl.float32)
    for j0 in range(0, n, BN):
        j = j0 + tl.arange(0, BN)
        k = tl.load(k_ptr + (head * n + j)[:, None] * d + c[None, :], mask=j[:, None] < n, other=0.0)
        vt = tl.load(v_ptr + (head * n + j)[None, :] * d + c[:, None], mask=j[None, :] < n, other=0.0)
        st = tl.dot(k, qt, input_precision="ieee") * scale
        ok = j[:, None] < n
        if CAUSAL:
            ok = ok & (j[:, None] <= i[None, :])
        st = tl.where(ok, st, float("-inf"))
        mx2 = tl.maximum(mx, tl.max(st, 0))
        pt = tl.exp(st - mx2[None, :])
        a = tl.exp(mx - mx2)
        sm = sm * a + tl.sum(pt, 0)
        acc_t = acc_t * a[None, :] + tl.dot(vt, pt.to(vt.dtype), input_precision="ieee")
        mx = mx2
    tl.store(o_ptr + (head * m + i)[None, :] * d + c[:, None], (acc_t / sm[None, :]).to(o_ptr.dtype.element_ty), mask=i[None, :] < m)
    tl.store(lse_ptr + head * m + i, mx + tl.log(sm), mask=i < m)


def attention_lse(q, k, v, causal):
    m, d = q.shape[-2:]
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    if not o.numel():
        return o, lse
    grid = lambda meta: (lse.numel() // m, triton.cdiv(m, meta["BM"]))
    turned[grid](q.contiguous(), k.contiguous(), v.contiguous(), o, lse, m, k.shape[-2], d**-0.5, CAUSAL=causal, d=d)
    return o, lse
