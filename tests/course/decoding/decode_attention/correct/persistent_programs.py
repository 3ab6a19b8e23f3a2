"""Ninety-six programs take one part after another; no tl.dot, products of three axes.

Summed along the last axis: a sum along the middle one becomes a `tl.dot` in TF32 on a GPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def work_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, out_ptr, top_ptr, total_ptr,
    qs, ks, vs, ts, n_items, n_parts, n_kv, group, page_size, scale,
    PART: tl.constexpr, G: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    for item in range(tl.program_id(0), n_items, tl.num_programs(0)):
        part = item % n_parts
        kv = (item // n_parts % n_kv).to(tl.int64)
        b = (item // n_parts // n_kv).to(tl.int64)
        length = tl.load(lengths_ptr + b)
        g = tl.arange(0, G)
        d = tl.arange(0, D)
        mine = g < group
        head = kv * group + g
        q = tl.load(
            q_ptr + b * qs[0] + head[:, None] * qs[1] + d[None, :] * qs[2],
            mask=mine[:, None],
            other=0.0,
        ).to(tl.float32)
        top = tl.full((G,), -1.0e38, tl.float32)
        total = tl.zeros((G,), tl.float32)
        acc = tl.zeros((G, D), tl.float32)
        for start in range(0, PART, N):
            i = part * PART + start + tl.arange(0, N)
            ok = i < length
            page = tl.load(table_ptr + b * ts[0] + i // page_size * ts[1], mask=ok, other=0)
            page = page.to(tl.int64)
            slot = i % page_size
            at_k = page * ks[0] + slot * ks[1] + kv * ks[2]
            at_v = page * vs[0] + slot * vs[1] + kv * vs[2]
            k = tl.load(k_ptr + at_k[:, None] + d[None, :] * ks[3], mask=ok[:, None], other=0.0)
            v = tl.load(v_ptr + at_v[:, None] + d[None, :] * vs[3], mask=ok[:, None], other=0.0)
            s = tl.sum(q[:, None, :] * k.to(tl.float32)[None, :, :], axis=2) * scale
            s = tl.where(ok[None, :], s, -1.0e38)
            new = tl.maximum(top, tl.max(s, axis=1))
            w = tl.where(ok[None, :], tl.exp(s - new[:, None]), 0.0)
            old = tl.exp(top - new)
            acc = acc * old[:, None] + tl.sum(
                w[:, None, :] * v.to(tl.float32).T[None, :, :], axis=2
            )
            total = total * old + tl.sum(w, axis=1)
            top = new
        place = (b * n_kv * group + head) * n_parts + part
        tl.store(out_ptr + place[:, None] * D + d[None, :], acc, mask=mine[:, None])
        tl.store(top_ptr + place, top, mask=mine)
        tl.store(total_ptr + place, total, mask=mine)


@triton.jit
def merge_kernel(
    out_ptr, top_ptr, total_ptr, result_ptr, n_parts, P: tl.constexpr, D: tl.constexpr
):
    row = tl.program_id(0)
    d = tl.arange(0, D)
    p = tl.arange(0, P)
    there = p < n_parts
    top = tl.load(top_ptr + row * n_parts + p, mask=there, other=-1.0e38)
    total = tl.load(total_ptr + row * n_parts + p, mask=there, other=0.0)
    w = tl.exp(top - tl.max(top, axis=0))
    acc = tl.load(
        out_ptr + (row * n_parts + p)[None, :] * D + d[:, None], mask=there[None, :], other=0.0
    )
    all_of_it = tl.sum(w * total, axis=0)
    result = tl.sum(acc * w[None, :], axis=1) / tl.maximum(all_of_it, 1e-35)
    tl.store(result_ptr + row * D + d, result)


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    page_size, hkv = k_pages.shape[1], k_pages.shape[2]
    result = torch.empty((b, hq, d), dtype=q.dtype, device=q.device)
    if b == 0:
        return result
    n_parts = max(1, triton.cdiv(block_table.shape[1] * page_size, 128))
    out = torch.empty((b, hq, n_parts, d), dtype=torch.float32, device=q.device)
    top = torch.empty((b, hq, n_parts), dtype=torch.float32, device=q.device)
    total = torch.empty_like(top)
    group = hq // hkv
    n_items = b * hkv * n_parts
    work_kernel[(min(96, n_items),)](
        q, k_pages, v_pages, block_table, lengths, out, top, total,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        n_items, n_parts, hkv, group, page_size, d**-0.5,
        PART=128, G=triton.next_power_of_2(group), N=16, D=d,
    )  # fmt: skip
    merge_kernel[(b * hq,)](
        out, top, total, result, n_parts, P=triton.next_power_of_2(n_parts), D=d
    )
    return result
