"""The running maximum starts at 0."""

import torch
import triton
import triton.language as tl


@triton.jit
def group_attention(
    Q, K, V, T, L, O,
    sq, sk, sv, st,
    page_size, scale,
    G: tl.constexpr, GP: tl.constexpr, D: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    b = tl.cast(tl.program_id(1), tl.int64)
    hk = tl.cast(tl.program_id(0), tl.int64)
    g = tl.arange(0, GP)
    dd = tl.cast(tl.arange(0, D), tl.int64)
    h = hk * G + g
    q = tl.load(Q + b * sq[0] + h[:, None] * sq[1] + dd[None, :] * sq[2], mask=g[:, None] < G, other=0)
    length = tl.load(L + b)
    top = tl.zeros([GP], tl.float32)
    den = tl.zeros([GP], tl.float32)
    num = tl.zeros([GP, D], tl.float32)
    lo = 0
    while lo < length:
        key = lo + tl.arange(0, N)
        live = key < length
        page = tl.load(T + b * st[0] + tl.cast(key // page_size, tl.int64) * st[1], mask=live, other=0)
        page = tl.cast(page, tl.int64)
        slot = tl.cast(key % page_size, tl.int64)
        # K is loaded transposed already: (D, N)
        k_row = page * sk[0] + slot * sk[1] + hk * sk[2]
        kt = tl.load(K + dd[:, None] * sk[3] + k_row[None, :], mask=live[None, :], other=0)
        s = tl.dot(q.to(tl.float32), kt.to(tl.float32), input_precision="ieee") * scale
        s = tl.where(live[None, :], s, float("-inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        w = tl.exp(s - new_top[:, None])
        c = tl.exp(top - new_top)
        v_row = page * sv[0] + slot * sv[1] + hk * sv[2]
        v = tl.load(V + v_row[:, None] + dd[None, :] * sv[3], mask=live[:, None], other=0)
        num = tl.dot(w, v.to(tl.float32), num * c[:, None], input_precision="ieee")
        den = den * c + tl.sum(w, 1)
        top = new_top
        lo += N
    den = tl.where(den == 0, 1.0, den)
    rows = (b * tl.num_programs(0) * G + h) * D
    tl.store(O + rows[:, None] + dd[None, :], (num / den[:, None]).to(O.dtype.element_ty), mask=g[:, None] < G)


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    out = torch.zeros((b, hq, d), dtype=q.dtype, device=q.device)
    if b == 0 or hq == 0 or block_table.shape[1] == 0 or k_pages.shape[0] == 0:
        return out  # no key anywhere
    hkv = k_pages.shape[2]
    group = hq // hkv
    group_attention[(hkv, b)](
        q, k_pages, v_pages, block_table, lengths, out,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        k_pages.shape[1], 1.0 / d**0.5,
        G=group, GP=max(16, triton.next_power_of_2(group)), D=d, N=16,
    )  # fmt: skip
    return out
