"""A fixed number of parts for each query head; maximum, sum and sum of values are kept apart."""

import torch
import triton
import triton.language as tl


PARTS = tl.constexpr(8)


@triton.jit
def part_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, max_ptr, sum_ptr, acc_ptr,
    sq0, sq1, sq2, sk0, sk1, sk2, sk3, sv0, sv1, sv2, sv3, st0, st1,
    page_size, group, scale,
    D: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    h = tl.program_id(0).to(tl.int64)
    b = tl.program_id(1).to(tl.int64)
    part = tl.program_id(2)
    n_heads = tl.num_programs(0)
    length = tl.load(lengths_ptr + b)
    share = tl.cdiv(length, PARTS)  # the keys of each sequence are shared out evenly
    lo = part * share
    hi = tl.minimum(lo + share, length)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + b * sq0 + h * sq1 + d * sq2).to(tl.float32) * scale
    m = tl.full((), -1e30, tl.float32)
    l = tl.full((), 0.0, tl.float32)
    acc = tl.zeros((D,), tl.float32)
    for start in range(lo, hi, BLOCK_N):
        i = start + tl.arange(0, BLOCK_N)
        mask = i < hi
        page = tl.load(table_ptr + b * st0 + i // page_size * st1, mask=mask, other=0).to(tl.int64)
        slot = i % page_size
        k_rows = page * sk0 + slot * sk1 + (h // group) * sk2
        k = tl.load(k_ptr + k_rows[:, None] + d[None, :] * sk3, mask=mask[:, None], other=0.0)
        s = tl.where(mask, tl.sum(k.to(tl.float32) * q, axis=1), -1e30)
        new = tl.maximum(m, tl.max(s, axis=0))
        w = tl.where(mask, tl.exp(s - new), 0.0)
        f = tl.exp(m - new)
        v_rows = page * sv0 + slot * sv1 + (h // group) * sv2
        v = tl.load(v_ptr + v_rows[:, None] + d[None, :] * sv3, mask=mask[:, None], other=0.0)
        l = l * f + tl.sum(w, axis=0)
        acc = acc * f + tl.sum(w[:, None] * v.to(tl.float32), axis=0)
        m = new
    place = (b * n_heads + h) * PARTS + part
    tl.store(max_ptr + place, m)
    tl.store(sum_ptr + place, l)
    tl.store(acc_ptr + place * D + d, acc)


@triton.jit
def merge_kernel(max_ptr, sum_ptr, acc_ptr, output_ptr, D: tl.constexpr):
    row = tl.program_id(0)
    parts = tl.arange(0, PARTS)
    d = tl.arange(0, D)
    m = tl.load(max_ptr + row * PARTS + parts)
    l = tl.load(sum_ptr + row * PARTS + parts)
    acc = tl.load(acc_ptr + (row * PARTS + parts)[:, None] * D + d[None, :])
    w = tl.exp(m - tl.max(m, axis=0))
    total = tl.sum(w * l, axis=0)
    result = tl.sum(w[:, None] * acc, axis=0)
    result = tl.where(total > 0, result / tl.where(total > 0, total, 1.0), 0.0)
    tl.store(output_ptr + row * D + d, result)


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    output = torch.empty_like(q, memory_format=torch.contiguous_format)
    if b == 0:
        return output
    largest = torch.empty((b, hq, 8), dtype=torch.float32, device=q.device)
    total = torch.empty((b, hq, 8), dtype=torch.float32, device=q.device)
    acc = torch.empty((b, hq, 8, d), dtype=torch.float32, device=q.device)
    part_kernel[(hq, b, 8)](
        q, k_pages, v_pages, block_table, lengths, largest, total, acc,
        *q.stride(), *k_pages.stride(), *v_pages.stride(), *block_table.stride(),
        k_pages.shape[1], hq // k_pages.shape[2], d**-0.5, D=d, BLOCK_N=32,
    )  # fmt: skip
    merge_kernel[(b * hq,)](largest, total, acc, output, D=d)
    return output
