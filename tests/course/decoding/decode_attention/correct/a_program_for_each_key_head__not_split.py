"""One program for each key head: the queries of its group are the rows of a product."""

import torch
import triton
import triton.language as tl


@triton.jit
def decode_kernel(
    Q, K, V, Table, Lengths, Out, sq, sk, sv, st, page_size, group, scale,
    D: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    kv = tl.program_id(0).to(tl.int64)
    b = tl.program_id(1).to(tl.int64)
    n_kv = tl.num_programs(0)
    row = tl.arange(0, ROWS)
    head = kv * group + row
    d = tl.arange(0, D).to(tl.int64)
    in_group = (row < group)[:, None]
    q = tl.load(
        Q + b * sq[0] + head[:, None] * sq[1] + d[None, :] * sq[2], mask=in_group, other=0.0
    )
    top = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    acc = tl.zeros([ROWS, D], tl.float32)
    length = tl.load(Lengths + b)
    for begin in range(0, length, KEYS):
        i = begin + tl.arange(0, KEYS)
        ok = i < length
        page = tl.load(Table + b * st[0] + (i // page_size).to(tl.int64) * st[1], mask=ok, other=0)
        page = page.to(tl.int64)
        slot = (i % page_size).to(tl.int64)
        # keys as columns
        at = page * sk[0] + slot * sk[1] + kv * sk[2]
        kt = tl.load(K + at[None, :] + d[:, None] * sk[3], mask=ok[None, :], other=0.0)
        s = tl.dot(q, kt, input_precision="ieee") * scale
        s = tl.where(ok[None, :], s, float("-inf"))
        now = tl.maximum(top, tl.max(s, 1))
        w = tl.exp(s - now[:, None])
        old = tl.exp(top - now)
        total = total * old + tl.sum(w, 1)
        at = page * sv[0] + slot * sv[1] + kv * sv[2]
        v = tl.load(V + at[:, None] + d[None, :] * sv[3], mask=ok[:, None], other=0.0)
        acc = acc * old[:, None] + tl.dot(w.to(v.dtype), v, input_precision="ieee")
        top = now
    if length > 0:
        acc = acc / total[:, None]
    place = (b * n_kv * group + head)[:, None] * D + d[None, :]
    tl.store(Out + place, acc.to(Out.dtype.element_ty), mask=in_group)


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    _, page_size, hkv, _ = k_pages.shape
    output = q.new_empty((b, hq, d))
    if b == 0:
        return output
    group = hq // hkv
    decode_kernel[(hkv, b)](
        q, k_pages, v_pages, block_table, lengths, output,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        page_size, group, d**-0.5,
        D=d, ROWS=max(16, triton.next_power_of_2(group)), KEYS=16,
    )  # fmt: skip
    return output
