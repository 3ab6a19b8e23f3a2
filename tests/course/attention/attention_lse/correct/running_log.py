"""Backwards through the keys, with one running log-sum-exp that is itself the second result."""

import torch
import triton
import triton.language as tl

NEG_INF = tl.constexpr(float("-inf"))


@triton.jit
def log_add(a, b):
    high = tl.maximum(a, b)
    safe = tl.where(high == NEG_INF, 0.0, high)
    return tl.where(high == NEG_INF, NEG_INF, safe + tl.log(tl.exp(a - safe) + tl.exp(b - safe)))


@triton.jit
def backwards(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, M, N, scale, CAUSAL: tl.constexpr, D: tl.constexpr,
              BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    q = tl.load(q_ptr + (head * M + rows)[:, None] * D + dims[None, :], mask=(rows < M)[:, None], other=0.0)
    lse = tl.full((BM,), NEG_INF, tl.float32)
    mean = tl.zeros((BM, D), tl.float32)
    steps = tl.cdiv(N, BN)
    for step in tl.range(0, steps):
        cols = (steps - 1 - step) * BN + tl.arange(0, BN)
        k = tl.load(k_ptr + (head * N + cols)[:, None] * D + dims[None, :], mask=(cols < N)[:, None], other=0.0)
        v = tl.load(v_ptr + (head * N + cols)[:, None] * D + dims[None, :], mask=(cols < N)[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        s = tl.where((cols < N)[None, :], s, NEG_INF)
        if CAUSAL:
            s = tl.where(cols[None, :] <= rows[:, None], s, NEG_INF)
        top = tl.max(s, axis=1)
        top = tl.where(top == NEG_INF, 0.0, top)
        part = tl.sum(tl.exp(s - top[:, None]), axis=1)
        part_lse = tl.where(part == 0.0, NEG_INF, top + tl.log(tl.where(part == 0.0, 1.0, part)))
        new_lse = log_add(lse, part_lse)
        base = tl.where(new_lse == NEG_INF, 0.0, new_lse)
        shares = tl.exp(s - base[:, None])
        mean = mean * tl.exp(lse - base)[:, None]
        mean = tl.dot(shares, v.to(tl.float32), mean, input_precision="ieee")
        lse = new_lse
    tl.store(lse_ptr + head * M + rows, lse, mask=rows < M)
    tl.store(o_ptr + (head * M + rows)[:, None] * D + dims[None, :], mean.to(o_ptr.dtype.element_ty), mask=(rows < M)[:, None])


def attention_lse(q, k, v, causal):
    m, d = q.shape[-2:]
    n = k.shape[-2]
    if q.numel() == 0:
        return torch.empty(q.shape, dtype=q.dtype, device=q.device), torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
    q3, k3, v3 = q.reshape(-1, m, d).contiguous(), k.reshape(-1, n, d).contiguous(), v.reshape(-1, n, d).contiguous()
    o = torch.empty_like(q3)
    lse = torch.empty((q3.shape[0], m), dtype=torch.float32, device=q.device)
    backwards[(triton.cdiv(m, 32), q3.shape[0])](q3, k3, v3, o, lse, m, n, d**-0.5, CAUSAL=causal, D=d, BM=32, BN=32)
    return o.view(q.shape), lse.view(q.shape[:-1])
