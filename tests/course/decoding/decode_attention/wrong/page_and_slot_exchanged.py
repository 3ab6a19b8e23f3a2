"""The remainder chooses the page and the quotient the slot."""

import torch
import triton
import triton.language as tl

@triton.jit
def part(q_ptr, k_ptr, v_ptr, table_ptr, len_ptr, acc_ptr, lse_ptr, hq, group, page_size, d, scale,
         q0, q1, q2, k0, k1, k2, k3, v0, v1, v2, v3, t0, t1, l0,
         SPLITS: tl.constexpr, D: tl.constexpr, BN: tl.constexpr):
    bh = tl.program_id(0)
    split = tl.program_id(1)
    b = (bh // hq).to(tl.int64)
    h = (bh % hq).to(tl.int64)
    rd = tl.arange(0, D).to(tl.int64)
    q = tl.load(q_ptr + b * q0 + h * q1 + rd * q2, mask=rd < d, other=0.0).to(tl.float32)
    length = tl.load(len_ptr + b * l0)
    share = tl.cdiv(length, SPLITS)
    first = split * share
    last = tl.minimum(first + share, length)
    m = -1.0e38
    l = 0.0
    acc = tl.zeros((D,), dtype=tl.float32)
    for start in range(first, last, BN):
        t = start + tl.arange(0, BN)
        ok = t < last
        page = tl.load(table_ptr + b * t0 + (t % page_size) * t1, mask=ok, other=0).to(tl.int64)
        slot = (t // page_size).to(tl.int64)
        mask = ok[:, None] & (rd < d)[None, :]
        k = tl.load(k_ptr + (page * k0 + slot * k1 + (h // group) * k2)[:, None] + rd[None, :] * k3, mask=mask, other=0.0).to(tl.float32)
        s = tl.where(ok, tl.sum(k * q[None, :], axis=1) * scale, float("-inf"))
        new = tl.maximum(m, tl.max(s, axis=0))
        fix = tl.exp(m - new)
        p = tl.exp(s - new)
        v = tl.load(v_ptr + (page * v0 + slot * v1 + (h // group) * v2)[:, None] + rd[None, :] * v3, mask=mask, other=0.0).to(tl.float32)
        acc = acc * fix + tl.sum(p[:, None] * v, axis=0)
        l = l * fix + tl.sum(p, axis=0)
        m = new
    at = bh.to(tl.int64) * SPLITS + split
    safe = tl.where(l > 0, l, 1.0)
    tl.store(acc_ptr + at * d + rd, acc / safe, mask=rd < d)
    tl.store(lse_ptr + at, tl.where(l > 0, m + tl.log(safe), -1.0e38))


@triton.jit
def merge(acc_ptr, lse_ptr, out_ptr, d, SPLITS: tl.constexpr, D: tl.constexpr):
    bh = tl.program_id(0).to(tl.int64)
    s = tl.arange(0, SPLITS)
    rd = tl.arange(0, D)
    lse = tl.load(lse_ptr + bh * SPLITS + s)
    top = tl.max(lse, axis=0)
    w = tl.where(lse > -1.0e37, tl.exp(lse - top), 0.0)
    acc = tl.load(acc_ptr + (bh * SPLITS + s)[:, None] * d + rd[None, :], mask=(rd < d)[None, :], other=0.0)
    total = tl.sum(w, axis=0)
    out = tl.sum(acc * w[:, None], axis=0) / tl.where(total > 0, total, 1.0)
    tl.store(out_ptr + bh * d + rd, out.to(out_ptr.dtype.element_ty), mask=rd < d)


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    out = torch.empty((b, hq, d), dtype=q.dtype, device=q.device)
    if out.numel() == 0:
        return out
    SPLITS = 4
    page_size, hkv = k_pages.shape[1:3]
    acc = torch.empty((b * hq, SPLITS, d), dtype=torch.float32, device=q.device)
    lse = torch.empty((b * hq, SPLITS), dtype=torch.float32, device=q.device)
    D = triton.next_power_of_2(d)
    part[(b * hq, SPLITS)](q, k_pages, v_pages, block_table, lengths, acc, lse, hq, hq // hkv, page_size, d, d ** -0.5,
                           *q.stride(), *k_pages.stride(), *v_pages.stride(), *block_table.stride(), lengths.stride(0),
                           SPLITS=SPLITS, D=D, BN=16)
    merge[(b * hq,)](acc, lse, out, d, SPLITS=SPLITS, D=D)
    return out
