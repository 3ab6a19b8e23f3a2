"""Broadcast, multiply and sum: small tiles, no tensor cores."""

import torch
import triton
import triton.language as tl

@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, M, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (head * M + m[:, None]) * D + d[None, :], mask=m[:, None] < M, other=0.0).to(tl.float32)
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    norm = tl.zeros((BM,), dtype=tl.float32)
    out = tl.zeros((BM, D), dtype=tl.float32)
    start = 0
    while start < N:
        n = start + tl.arange(0, BN)
        k = tl.load(k_ptr + (head * N + n[:, None]) * D + d[None, :], mask=n[:, None] < N, other=0.0).to(tl.float32)
        v = tl.load(v_ptr + (head * N + n[:, None]) * D + d[None, :], mask=n[:, None] < N, other=0.0).to(tl.float32)
        s = tl.sum(q[:, None, :] * k[None, :, :], axis=2) * scale
        s = tl.where(n[None, :] < N, s, -float("inf"))
        if CAUSAL:
            s = tl.where(n[None, :] > m[:, None], -float("inf"), s)
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        fade = tl.exp(top - new)
        norm = norm * fade + tl.sum(p, axis=1)
        out = out * fade[:, None] + tl.sum(p[:, :, None] * v[None, :, :], axis=1)
        top = new
        start += BN
    tl.store(o_ptr + (head * M + m[:, None]) * D + d[None, :], out / norm[:, None], mask=m[:, None] < M)


def attention(q, k, v, causal):
    M, D = q.shape[-2:]
    N = k.shape[-2]
    heads = 1
    for size in q.shape[:-2]:
        heads *= size
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    kernel[(triton.cdiv(M, 8), heads)](q.contiguous(), k.contiguous(), v.contiguous(), o, M, N, D**-0.5, CAUSAL=causal, D=D, BM=8, BN=16)
    return o
