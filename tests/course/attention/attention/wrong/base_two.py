"""Scales by ln 2 for exp2."""

import torch
import triton
import triton.language as tl


@triton.jit
def fwd(
    Q,
    K,
    V,
    O,
    scale,
    sqz,
    sqm,
    sqk,
    skz,
    skn,
    skk,
    svz,
    svn,
    svk,
    M,
    N,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    IS_CAUSAL: tl.constexpr,
):
    start = tl.program_id(0)
    z = tl.program_id(1)
    offs_d = tl.arange(0, D)
    Qp = Q + z * sqz + (start * BM + tl.arange(0, BM))[:, None] * sqm + offs_d[None, :] * sqk
    Kp = K + z * skz + offs_d[:, None] * skk + tl.arange(0, BN)[None, :] * skn
    Vp = V + z * svz + tl.arange(0, BN)[:, None] * svn + offs_d[None, :] * svk
    Op = O + z * M * D + (start * BM + tl.arange(0, BM))[:, None] * D + offs_d[None, :]
    offs_m = start * BM + tl.arange(0, BM)
    m_i = tl.zeros([BM], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BM], dtype=tl.float32)
    acc = tl.zeros([BM, D], dtype=tl.float32)
    q = tl.load(Qp, mask=offs_m[:, None] < M, other=0.0)
    hi = min((start + 1) * BM, N) if IS_CAUSAL else N
    for n in range(0, hi, BN):
        offs_n = n + tl.arange(0, BN)
        k = tl.load(Kp, mask=offs_n[None, :] < N, other=0.0)
        v = tl.load(Vp, mask=offs_n[:, None] < N, other=0.0)
        qk = tl.zeros([BM, BN], dtype=tl.float32)
        qk += tl.dot(q, k, input_precision="ieee")
        qk *= scale * 0.6931471805599453
        qk = tl.where(offs_n[None, :] < N, qk, float("-inf"))
        if IS_CAUSAL:
            qk = tl.where(offs_m[:, None] >= offs_n[None, :], qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        alpha = tl.exp2(m_i - m_new)
        p = tl.exp2(qk - m_new[:, None])
        acc *= alpha[:, None]
        acc += tl.dot(p.to(Q.dtype.element_ty), v, input_precision="ieee")
        l_i = l_i * alpha + tl.sum(p, 1)
        m_i = m_new
        Kp += BN * skn
        Vp += BN * svn
    acc = acc / l_i[:, None]
    tl.store(Op, acc.to(O.dtype.element_ty), mask=offs_m[:, None] < M)


def attention(q, k, v, causal):
    M, D = q.shape[-2:]
    N = k.shape[-2]
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if o.numel() == 0:
        return o
    q = q.reshape(-1, M, D)
    k = k.reshape(-1, N, D)
    v = v.reshape(-1, N, D)
    fwd[(triton.cdiv(M, 64), q.shape[0])](
        q,
        k,
        v,
        o,
        D**-0.5,
        *q.stride(),
        *k.stride(),
        *v.stride(),
        M,
        N,
        D=D,
        BM=64,
        BN=16,
        IS_CAUSAL=causal,
    )
    return o
