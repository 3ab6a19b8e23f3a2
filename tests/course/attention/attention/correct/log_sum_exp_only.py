"""Carries nothing but the log of the sum, and normalises in each step."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    q,
    k,
    v,
    o,
    M,
    N,
    q0,
    q1,
    q2,
    k0,
    k1,
    k2,
    v0,
    v1,
    v2,
    scale,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    tile = tl.program_id(0)
    z = tl.program_id(1)
    i = tile * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    qi = tl.load(q + z * q0 + i[:, None] * q1 + d[None, :] * q2, mask=(i < M)[:, None], other=0.0)
    lse = tl.full((BM,), float("-inf"), tl.float32)
    out = tl.zeros((BM, D), tl.float32)
    for s in tl.range(0, N, BN):
        j = s + tl.arange(0, BN)
        kj = tl.load(
            k + z * k0 + j[:, None] * k1 + d[None, :] * k2, mask=(j < N)[:, None], other=0.0
        )
        vj = tl.load(
            v + z * v0 + j[:, None] * v1 + d[None, :] * v2, mask=(j < N)[:, None], other=0.0
        )
        x = tl.dot(qi, tl.trans(kj), input_precision="ieee") * scale
        see = (j < N)[None, :] & (i[:, None] >= (j[None, :] if CAUSAL else 0))
        x = tl.where(see, x, float("-inf"))
        top = tl.maximum(lse, tl.max(x, 1))
        new = top + tl.log(tl.exp(lse - top) + tl.sum(tl.exp(x - top[:, None]), 1))
        out = out * tl.exp(lse - new)[:, None] + tl.dot(
            tl.exp(x - new[:, None]).to(vj.dtype), vj, input_precision="ieee"
        )
        lse = new
    tl.store(
        o + z * M * D + i[:, None] * D + d[None, :],
        out.to(o.dtype.element_ty),
        mask=(i < M)[:, None],
    )


def attention(q, k, v, causal=False):
    M, D = q.shape[-2:]
    N = k.shape[-2]
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if o.numel() == 0:
        return o
    q, k, v = q.reshape(-1, M, D), k.reshape(-1, N, D), v.reshape(-1, N, D)
    kernel[(triton.cdiv(M, 32), q.shape[0])](
        q,
        k,
        v,
        o,
        M,
        N,
        *q.stride(),
        *k.stride(),
        *v.stride(),
        D**-0.5,
        CAUSAL=causal,
        D=D,
        BM=32,
        BN=32,
    )
    return o
