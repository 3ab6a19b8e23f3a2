"""The outputs of the parts are added without exp(part maximum - maximum)."""

import torch
import triton
import triton.language as tl

@triton.jit
def part_kernel(q, k, v, part_o, part_m, part_s, qs, ks, vs, M, N, heads, parts, keys_per_part, scale,
                CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    bh = tl.program_id(1)
    part = tl.program_id(2)
    b, h = bh // heads, bh % heads
    q += b * qs[0] + h * qs[1]
    k += b * ks[0] + h * ks[1]
    v += b * vs[0] + h * vs[1]
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    x = tl.arange(0, D)
    qt = tl.load(q + i[:, None] * qs[2] + x[None, :] * qs[3], mask=i[:, None] < M, other=0.0)
    low = part * keys_per_part
    high = tl.minimum(low + keys_per_part, N)
    m = tl.full((BM,), -1e37, tl.float32)
    s = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(low, high, BN):
        j = start + tl.arange(0, BN)
        ok = j < high
        kt = tl.load(k + j[None, :] * ks[2] + x[:, None] * ks[3], mask=ok[None, :], other=0.0)
        vt = tl.load(v + j[:, None] * vs[2] + x[None, :] * vs[3], mask=ok[:, None], other=0.0)
        sc = tl.dot(qt, kt, input_precision="ieee") * scale
        see = ok[None, :] & (i[:, None] >= 0)
        if CAUSAL:
            see = see & (j[None, :] <= i[:, None])
        sc = tl.where(see, sc, float("-inf"))
        m_new = tl.maximum(m, tl.max(sc, 1))
        p = tl.exp(sc - m_new[:, None])
        alpha = tl.exp(m - m_new)
        s = s * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(vt.dtype), vt, input_precision="ieee")
        m = m_new
    line = (bh * parts + part) * M + i
    tl.store(part_m + line, m, mask=i < M)
    tl.store(part_s + line, s, mask=i < M)
    tl.store(part_o + line[:, None] * D + x[None, :], acc, mask=i[:, None] < M)


@triton.jit
def merge_kernel(part_o, part_m, part_s, o, lse, M, parts, D: tl.constexpr):
    i = tl.program_id(0)
    bh = tl.program_id(1)
    x = tl.arange(0, D)
    m = tl.load(part_m + bh * parts * M + i)
    for part in range(1, parts):
        m = tl.maximum(m, tl.load(part_m + (bh * parts + part) * M + i))
    total = m * 0.0
    acc = tl.zeros((D,), tl.float32)
    for part in range(0, parts):
        line = (bh * parts + part) * M + i
        f = tl.exp(tl.load(part_m + line) - m)
        total += f * tl.load(part_s + line)
        acc += tl.load(part_o + line * D + x)
    tl.store(o + (bh * M + i) * D + x, (acc / total).to(o.dtype.element_ty))
    tl.store(lse + bh * M + i, m + tl.log(total))


def attention_lse(q, k, v, causal=False):
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    fill(q, k, v, out, lse, causal)
    return out, lse


def fill(q, k, v, out, lse, causal):
    if q.dim() > 4:
        for five in zip(q, k, v, out, lse):
            fill(*five, causal)
        return
    while q.dim() < 4:
        q, k, v, out, lse = (t[None] for t in (q, k, v, out, lse))
    if lse.numel() == 0:
        return
    batches, heads, M, D = q.shape
    N = k.shape[2]
    per_part = 48
    parts = triton.cdiv(N, per_part)
    kw = dict(dtype=torch.float32, device=q.device)
    po = torch.empty((batches * heads, parts, M, D), **kw)
    pm = torch.empty((batches * heads, parts, M), **kw)
    ps = torch.empty_like(pm)
    part_kernel[(triton.cdiv(M, 16), batches * heads, parts)](
        q, k, v, po, pm, ps, q.stride(), k.stride(), v.stride(), M, N, heads, parts, per_part,
        D**-0.5, CAUSAL=causal, D=D, BM=16, BN=16,
    )
    merge_kernel[(M, batches * heads)](po, pm, ps, out, lse, M, parts, D=D)
