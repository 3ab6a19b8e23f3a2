"""Hands the strides of the rows and the columns of k over in the wrong order."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    sqb,
    sqm,
    sqd,
    skb,
    skn,
    skd,
    svb,
    svn,
    svd,
    M,
    N,
    scale,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    b = tl.program_id(1)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    q = tl.load(
        q_ptr + b * sqb + rm[:, None] * sqm + rd[None, :] * sqd, mask=rm[:, None] < M, other=0.0
    )
    top = tl.full((BM,), float("-inf"), tl.float32)
    for s in range(0, N, BN):
        rn = s + tl.arange(0, BN)
        kt = tl.load(
            k_ptr + b * skb + rn[None, :] * skn + rd[:, None] * skd, mask=rn[None, :] < N, other=0.0
        )
        qk = tl.dot(q, kt, input_precision="ieee") * scale
        ok = rn[None, :] < N
        if CAUSAL:
            ok = ok & (rm[:, None] >= rn[None, :])
        top = tl.maximum(top, tl.max(tl.where(ok, qk, float("-inf")), 1))
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for s in range(0, N, BN):
        rn = s + tl.arange(0, BN)
        kt = tl.load(
            k_ptr + b * skb + rn[None, :] * skn + rd[:, None] * skd, mask=rn[None, :] < N, other=0.0
        )
        v = tl.load(
            v_ptr + b * svb + rn[:, None] * svn + rd[None, :] * svd, mask=rn[:, None] < N, other=0.0
        )
        qk = tl.dot(q, kt, input_precision="ieee") * scale
        ok = rn[None, :] < N
        if CAUSAL:
            ok = ok & (rm[:, None] >= rn[None, :])
        w = tl.where(ok, tl.exp(qk - top[:, None]), 0.0)
        total += tl.sum(w, 1)
        acc += tl.dot(w.to(v.dtype), v, input_precision="ieee")
    out = acc / total[:, None]
    tl.store(
        o_ptr + b * M * D + rm[:, None] * D + rd[None, :],
        out.to(o_ptr.dtype.element_ty),
        mask=rm[:, None] < M,
    )


def attention(q, k, v, causal):
    m, d = q.shape[-2:]
    n = k.shape[-2]
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if out.numel() == 0:
        return out
    q_, k_, v_ = (
        q.flatten(0, -3) if q.ndim > 2 else q[None],
        k.flatten(0, -3) if k.ndim > 2 else k[None],
        v.flatten(0, -3) if v.ndim > 2 else v[None],
    )
    kernel[(triton.cdiv(m, 16), q_.shape[0])](
        q_,
        k_,
        v_,
        out,
        *q_.stride(),
        k_.stride(0),
        k_.stride(2),
        k_.stride(1),
        *v_.stride(),
        m,
        n,
        1 / d**0.5,
        CAUSAL=causal,
        D=d,
        BM=16,
        BN=32,
    )
    return out
