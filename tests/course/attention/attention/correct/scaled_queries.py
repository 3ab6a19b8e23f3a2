"""Scales the queries instead of the scores; two loops: keys in full view, then the diagonal."""

import torch
import triton
import triton.language as tl

@triton.jit
def step(q, k_ptr, v_ptr, start, base, rows, N, top, norm, out, MASKED: tl.constexpr, D: tl.constexpr, BN: tl.constexpr):
    cols = start + tl.arange(0, BN)
    dims = tl.arange(0, D)
    keep = (cols < N)[:, None]
    k = tl.load(k_ptr + base + cols[:, None] * D + dims[None, :], mask=keep, other=0.0)
    v = tl.load(v_ptr + base + cols[:, None] * D + dims[None, :], mask=keep, other=0.0)
    s = tl.dot(q, tl.trans(k).to(tl.float32), input_precision="ieee")
    seen = (cols < N)[None, :]
    if MASKED:
        seen = seen & (cols[None, :] <= rows[:, None])
    s = tl.where(seen, s, -float("inf"))
    new_top = tl.maximum(top, tl.max(s, axis=1))
    p = tl.exp(s - new_top[:, None])
    fade = tl.exp(top - new_top)
    norm = norm * fade + tl.sum(p, axis=1)
    out = out * fade[:, None] + tl.dot(p, v.to(tl.float32), input_precision="ieee")
    return new_top, norm, out


@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, M, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    head = tl.program_id(1)
    tile = tl.program_id(0)
    rows = tile * B + tl.arange(0, B)
    dims = tl.arange(0, D)
    q = tl.load(q_ptr + head * M * D + rows[:, None] * D + dims[None, :], mask=rows[:, None] < M, other=0.0)
    q = q.to(tl.float32) * scale
    top = tl.full((B,), -float("inf"), dtype=tl.float32)
    norm = tl.zeros((B,), dtype=tl.float32)
    out = tl.zeros((B, D), dtype=tl.float32)
    base = head * N * D
    if CAUSAL:
        for start in range(0, tile * B, B):
            top, norm, out = step(q, k_ptr, v_ptr, start, base, rows, N, top, norm, out, False, D, B)
        top, norm, out = step(q, k_ptr, v_ptr, tile * B, base, rows, N, top, norm, out, True, D, B)
    else:
        for start in range(0, N, B):
            top, norm, out = step(q, k_ptr, v_ptr, start, base, rows, N, top, norm, out, False, D, B)
    out = out / norm[:, None]
    tl.store(o_ptr + head * M * D + rows[:, None] * D + dims[None, :], out.to(o_ptr.dtype.element_ty), mask=rows[:, None] < M)


def attention(q, k, v, causal):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    M, D = q.shape[-2:]
    heads = 1
    for size in q.shape[:-2]:
        heads *= size
    o = torch.empty_like(q)
    kernel[(triton.cdiv(M, 32), heads)](q, k, v, o, M, k.shape[-2], D**-0.5, CAUSAL=bool(causal), D=D, B=32)
    return o
