"""The columns of the table are taken to be neighbours."""

import torch
import triton
import triton.language as tl


@triton.jit
def _locate(table_row, t_c, i, ok, page_size):
    page = tl.load(table_row + (i // page_size).to(tl.int64) * t_c, mask=ok, other=0)
    return page.to(tl.int64), (i % page_size).to(tl.int64)


@triton.jit
def _attend(Q, K, V, T, L, O, LSE, qs0, qs1, qs2, ks0, ks1, ks2, ks3, vs0, vs1, vs2, vs3, ts0, ts1,
            HKV, R, PAGE, SPLITS, PER, scale, D: tl.constexpr, RP: tl.constexpr, N: tl.constexpr):
    """Without tl.dot: each part stores a finished attention over its keys and the log of its sum."""
    s = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1).to(tl.int64)
    part = tl.program_id(2)
    n_keys = tl.load(L + s)
    lo = part * PER
    hi = tl.minimum(lo + PER, n_keys)
    r = tl.arange(0, RP)
    dd = tl.arange(0, D)
    heads = h * R + r
    q = tl.load(Q + s * qs0 + heads[:, None] * qs1 + dd.to(tl.int64)[None, :] * qs2, mask=r[:, None] < R, other=0.0)
    q = q.to(tl.float32) * scale

    m = tl.full([RP], -float("inf"), tl.float32)
    l = tl.full([RP], 0.0, tl.float32)
    acc = tl.zeros([RP, D], tl.float32)
    at = lo
    while at < hi:
        i = at + tl.arange(0, N)
        ok = i < hi
        page, slot = _locate(T + s * ts0, 1, i, ok, PAGE)
        kk = tl.load(K + (page * ks0 + slot * ks1 + h * ks2)[:, None] + dd.to(tl.int64)[None, :] * ks3, mask=ok[:, None], other=0.0)
        x = tl.sum(q[:, None, :] * kk.to(tl.float32)[None, :, :], axis=2)
        x = tl.where(ok[None, :], x, -float("inf"))
        m2 = tl.maximum(m, tl.max(x, 1))
        p = tl.exp(x - m2[:, None])
        fix = tl.exp(m - m2)
        vv = tl.load(V + (page * vs0 + slot * vs1 + h * vs2)[:, None] + dd.to(tl.int64)[None, :] * vs3, mask=ok[:, None], other=0.0)
        acc = acc * fix[:, None] + tl.sum(p[:, :, None] * vv.to(tl.float32)[None, :, :], axis=1)
        l = l * fix + tl.sum(p, 1)
        m = m2
        at += N
    some = l > 0
    safe = tl.where(some, l, 1.0)
    lse = tl.where(some, m + tl.log(safe), -float("inf"))
    row = (s * HKV * R + heads) * SPLITS + part
    tl.store(LSE + row, lse, mask=r < R)
    tl.store(O + row[:, None] * D + dd[None, :], acc / safe[:, None], mask=r[:, None] < R)


@triton.jit
def _combine(O, LSE, OUT, SPLITS, D: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    dd = tl.arange(0, D)
    m = -float("inf")
    for j in range(SPLITS):
        m = tl.maximum(m, tl.load(LSE + row * SPLITS + j))
    l = 0.0
    acc = tl.zeros([D], tl.float32)
    for j in range(SPLITS):
        lse = tl.load(LSE + row * SPLITS + j)
        if lse > -float("inf"):
            w = tl.exp(lse - m)
            l += w
            acc += w * tl.load(O + (row * SPLITS + j) * D + dd)
    acc = tl.where(l > 0, acc / tl.where(l > 0, l, 1.0), 0.0)
    tl.store(OUT + row * D + dd, acc.to(OUT.dtype.element_ty))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    page, hkv = k_pages.shape[1], k_pages.shape[2]
    if b == 0 or hq == 0:
        return torch.empty(b, hq, d, dtype=q.dtype, device=q.device)
    longest = block_table.shape[1] * page
    splits = 1
    while splits < 16 and longest > splits * 24:
        splits *= 2
    per = max(1, triton.cdiv(longest, splits))
    o = q.new_empty((b, hq, splits, d), dtype=torch.float32)
    lse = q.new_empty((b, hq, splits), dtype=torch.float32)
    rep = hq // hkv
    _attend[(b, hkv, splits)](q, k_pages, v_pages, block_table, lengths, o, lse,
                              q.stride(0), q.stride(1), q.stride(2), *k_pages.stride(), *v_pages.stride(),
                              block_table.stride(0), block_table.stride(1),
                              hkv, rep, max(1, page), splits, per, d ** -0.5,
                              D=d, RP=triton.next_power_of_2(rep), N=8)
    out = torch.empty(b, hq, d, dtype=q.dtype, device=q.device)
    _combine[(b * hq,)](o, lse, out, splits, D=d)
    return out
