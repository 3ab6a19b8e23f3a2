"""Scores first; then every part adds its weighted values to one sum, by atomics."""

import torch
import triton
import triton.language as tl


@triton.jit
def score_kernel(
    q, k, table, lengths, scores, qs, ks, ts, page_size, group, n, scale,
    D: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    h = tl.program_id(0).to(tl.int64)
    b = tl.program_id(1).to(tl.int64)
    i = tl.program_id(2) * N + tl.arange(0, N)
    d = tl.arange(0, D)
    ok = i < tl.load(lengths + b)
    page = tl.load(table + b * ts[0] + i // page_size * ts[1], mask=ok, other=0).to(tl.int64)
    at = page * ks[0] + i % page_size * ks[1] + h // group * ks[2]
    keys = tl.load(k + at[:, None] + d[None, :] * ks[3], mask=ok[:, None], other=0.0)
    query = tl.load(q + b * qs[0] + h * qs[1] + d * qs[2])
    s = tl.sum(keys.to(tl.float32) * query.to(tl.float32)[None, :], 1) * scale
    tl.store(scores + (b * tl.num_programs(0) + h) * n + i, s, mask=ok)


@triton.jit
def sum_kernel(
    scores, v, table, lengths, sums, totals, vs, ts, page_size, group, n,
    D: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    h = tl.program_id(0).to(tl.int64)
    b = tl.program_id(1).to(tl.int64)
    start = tl.program_id(2) * N
    row = b * tl.num_programs(0) + h
    length = tl.load(lengths + b)
    if start < length:
        top = float("-inf")
        for first in range(0, length, 256):
            j = first + tl.arange(0, 256)
            s = tl.load(scores + row * n + j, mask=j < length, other=float("-inf"))
            top = tl.maximum(top, tl.max(s, 0))
        i = start + tl.arange(0, N)
        d = tl.arange(0, D)
        ok = i < length
        w = tl.exp(tl.load(scores + row * n + i, mask=ok, other=float("-inf")) - top)
        page = tl.load(table + b * ts[0] + i // page_size * ts[1], mask=ok, other=0).to(tl.int64)
        at = page * vs[0] + i % page_size * vs[1] + h // group * vs[2]
        values = tl.load(v + at[:, None] + d[None, :] * vs[3], mask=ok[:, None], other=0.0)
        tl.atomic_add(sums + row * D + d, tl.sum(w[:, None] * values.to(tl.float32), 0))
        tl.atomic_add(totals + row, tl.sum(w, 0))


@triton.jit
def divide_kernel(sums, totals, output, D: tl.constexpr):
    row = tl.program_id(0)
    d = tl.arange(0, D)
    total = tl.load(totals + row)
    x = tl.load(sums + row * D + d)
    tl.store(output + row * D + d, tl.where(total > 0, x / tl.where(total > 0, total, 1.0), 0.0))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    output = torch.empty((b, hq, d), dtype=q.dtype, device=q.device)
    if b == 0:
        return output
    page_size = k_pages.shape[1]
    group = hq // k_pages.shape[2]
    n = block_table.shape[1] * page_size
    sums = torch.zeros((b, hq, d), dtype=torch.float32, device=q.device)
    totals = torch.zeros((b, hq), dtype=torch.float32, device=q.device)
    if n > 0:
        scores = torch.empty((b, hq, n), dtype=torch.float32, device=q.device)
        grid = (hq, b, triton.cdiv(n, 128))
        score_kernel[grid](
            q, k_pages, block_table, lengths, scores,
            q.stride(), k_pages.stride(), block_table.stride(), page_size, group, n, d**-0.5,
            D=d, N=128,
        )  # fmt: skip
        sum_kernel[grid](
            scores, v_pages, block_table, lengths, sums, totals,
            v_pages.stride(), block_table.stride(), page_size, group, n, D=d, N=128,
        )  # fmt: skip
    divide_kernel[(b * hq,)](sums, totals, output, D=d)
    return output
