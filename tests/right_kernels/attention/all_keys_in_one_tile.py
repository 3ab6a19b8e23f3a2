"""Holds all keys of a head in one tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    Q,
    K,
    V,
    O,
    M,
    N,
    sq0,
    sq1,
    sq2,
    sk0,
    sk1,
    sk2,
    sv0,
    sv1,
    sv2,
    scale,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    h = tl.program_id(0)
    rm = tl.program_id(1) * BM + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    q = tl.load(
        Q + h * sq0 + rm[:, None] * sq1 + rd[None, :] * sq2, mask=(rm < M)[:, None], other=0
    )
    k = tl.load(
        K + h * sk0 + rn[:, None] * sk1 + rd[None, :] * sk2, mask=(rn < N)[:, None], other=0
    )
    v = tl.load(
        V + h * sv0 + rn[:, None] * sv1 + rd[None, :] * sv2, mask=(rn < N)[:, None], other=0
    )
    s = tl.dot(q, k.T, input_precision="ieee") * scale
    keep = (rn < N)[None, :]
    if CAUSAL:
        keep &= rn[None, :] <= rm[:, None]
    s = tl.where(keep, s, float("-inf"))
    s -= tl.max(s, axis=1, keep_dims=True)
    p = tl.exp(s)
    den = tl.sum(p, axis=1, keep_dims=True)
    o = tl.dot(p.to(v.dtype), v, input_precision="ieee") / den
    tl.store(
        O + h * M * D + rm[:, None] * D + rd[None, :],
        o.to(O.dtype.element_ty),
        mask=(rm < M)[:, None],
    )


def attention(q, k, v, causal):
    m, d = q.shape[-2:]
    n = k.shape[-2]
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if out.numel() == 0:
        return out
    Q, K, V = (t.reshape(-1, t.shape[-2], d) for t in (q, k, v))
    kernel[(Q.shape[0], triton.cdiv(m, 16))](
        Q,
        K,
        V,
        out,
        m,
        n,
        *Q.stride(),
        *K.stride(),
        *V.stride(),
        d**-0.5,
        CAUSAL=causal,
        D=d,
        BM=16,
        BN=max(16, triton.next_power_of_2(n)),
    )
    return out
