"""Fully masked block gives NaN."""

import torch
import triton
import triton.language as tl


@triton.jit
def part(q_ptr, k_ptr, v_ptr, acc_ptr, stat_ptr, H, M, N, chunk, scale, q0, q1, q2, q3, k0, k1, k2, k3, v0, v1, v2, v3, CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, PARTS: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    zh = tl.program_id(1)
    part_id = tl.program_id(2)
    z, h = zh // H, zh % H
    d = tl.arange(0, D)
    q = tl.load(q_ptr + z * q0 + h * q1 + m[:, None] * q2 + d[None, :] * q3, mask=m[:, None] < M, other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    begin = part_id * chunk
    end = tl.minimum(begin + chunk, N)
    for start in range(begin, end, BN):
        n = start + tl.arange(0, BN)
        k = tl.load(k_ptr + z * k0 + h * k1 + n[None, :] * k2 + d[:, None] * k3, mask=n[None, :] < end, other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * scale
        ok = n[None, :] < end
        if CAUSAL:
            ok = ok & (m[:, None] >= n[None, :])
        s = tl.where(ok, s, float("-inf"))
        new = tl.maximum(top, tl.max(s, 1))
        safe = new
        p = tl.exp(s - safe[:, None])
        old = tl.exp(top - safe)
        total = total * old + tl.sum(p, 1)
        v = tl.load(v_ptr + z * v0 + h * v1 + n[:, None] * v2 + d[None, :] * v3, mask=n[:, None] < end, other=0.0)
        acc = tl.dot(p, v.to(tl.float32), acc * old[:, None], input_precision="ieee")
        top = new
    row = (zh * PARTS + part_id) * M + m
    tl.store(acc_ptr + row[:, None] * D + d[None, :], acc, mask=m[:, None] < M)
    tl.store(stat_ptr + row * 2, top, mask=m < M)
    tl.store(stat_ptr + row * 2 + 1, total, mask=m < M)


@triton.jit
def combine(acc_ptr, stat_ptr, o_ptr, M, D: tl.constexpr, PARTS: tl.constexpr):
    m = tl.program_id(0)
    zh = tl.program_id(1)
    d = tl.arange(0, D)
    top = -float("inf")
    for p in tl.static_range(PARTS):
        top = tl.maximum(top, tl.load(stat_ptr + ((zh * PARTS + p) * M + m) * 2))
    total = 0.0
    acc = tl.zeros((D,), tl.float32)
    for p in tl.static_range(PARTS):
        row = (zh * PARTS + p) * M + m
        f = tl.exp(tl.load(stat_ptr + row * 2) - top)
        total += f * tl.load(stat_ptr + row * 2 + 1)
        acc += f * tl.load(acc_ptr + row * D + d)
    tl.store(o_ptr + (zh * M + m) * D + d, acc / total)


def _launch(q, k, v, out, causal):
    Z, H, M, D = q.shape
    N = k.shape[2]
    parts = 2
    acc = torch.empty((Z * H, parts, M, D), dtype=torch.float32, device=q.device)
    stat = torch.empty((Z * H, parts, M, 2), dtype=torch.float32, device=q.device)
    part[(triton.cdiv(M, 16), Z * H, parts)](q, k, v, acc, stat, H, M, N, triton.cdiv(N, parts), D ** -0.5, *q.stride(), *k.stride(), *v.stride(), causal, D, 16, 16, parts)
    combine[(M, Z * H)](acc, stat, out, M, D, parts)


def _four(x):
    """Leading dimensions as exactly two, as a view."""
    while x.ndim < 4:
        x = x.unsqueeze(0)
    return x


def attention(q, k, v, causal=False):
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if out.numel():
        _attend(q, k, v, out, causal)
    return out


def _attend(q, k, v, out, causal):
    if q.ndim > 4:
        for i in range(q.shape[0]):
            _attend(q[i], k[i], v[i], out[i], causal)
    else:
        _launch(_four(q), _four(k), _four(v), _four(out), causal)
