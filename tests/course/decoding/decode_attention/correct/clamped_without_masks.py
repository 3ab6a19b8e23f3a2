"""Keys beyond the end are the last key again, loaded without a mask; only scores are masked."""

import torch
import triton
import triton.language as tl


@triton.jit
def part_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, part_ptr, lse_ptr,
    q_strides, k_strides, v_strides, t_strides, page_size, group, n_heads, PART,
    D: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_H: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(2).to(tl.int64)
    kv = tl.program_id(1).to(tl.int64)
    part = tl.program_id(0)
    length = tl.load(lengths_ptr + b)
    g = tl.minimum(tl.arange(0, BLOCK_H), group - 1)  # the last head again
    head = kv * group + g
    d = tl.arange(0, D).to(tl.int64)
    q = tl.load(q_ptr + b * q_strides[0] + head[:, None] * q_strides[1] + d[None, :] * q_strides[2])
    m = tl.full((BLOCK_H,), -float("inf"), tl.float32)
    l = tl.zeros((BLOCK_H,), tl.float32)
    acc = tl.zeros((BLOCK_H, D), tl.float32)
    stop = tl.minimum((part + 1) * PART, length)
    scale = 1.0 / tl.sqrt(D * 1.0)
    for start in range(part * PART, stop, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        i = tl.minimum(n, stop - 1)
        page = tl.load(table_ptr + b * t_strides[0] + (i // page_size) * t_strides[1]).to(tl.int64)
        slot = i % page_size
        k_at = page * k_strides[0] + slot * k_strides[1] + kv * k_strides[2]
        v_at = page * v_strides[0] + slot * v_strides[1] + kv * v_strides[2]
        k = tl.load(k_ptr + k_at[:, None] + d[None, :] * k_strides[3])
        v = tl.load(v_ptr + v_at[:, None] + d[None, :] * v_strides[3])
        s = tl.dot(q, k.T, input_precision="ieee") * scale
        s = tl.where((n < stop)[None, :], s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp(s - m_new[:, None])
        a = tl.exp(m - m_new)
        l = l * a + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * a[:, None], input_precision="ieee")
        m = m_new
    if stop > part * PART:
        place = (b * n_heads + head) * tl.num_programs(0) + part
        mine = tl.arange(0, BLOCK_H) < group
        tl.store(part_ptr + place[:, None] * D + d[None, :], acc / l[:, None], mask=mine[:, None])
        tl.store(lse_ptr + place, m + tl.log(l), mask=mine)


@triton.jit
def merge_kernel(part_ptr, lse_ptr, lengths_ptr, out_ptr, n_parts, PART, D: tl.constexpr):
    b = tl.program_id(0)
    h = tl.program_id(1)
    row = b * tl.num_programs(1) + h
    d = tl.arange(0, D)
    used = tl.cdiv(tl.load(lengths_ptr + b), PART)
    acc = tl.zeros((D,), tl.float32)
    if used > 0:
        lse = tl.load(lse_ptr + row * n_parts)
        acc = tl.load(part_ptr + row * n_parts * D + d)
        for part in range(1, used):
            other = tl.load(lse_ptr + row * n_parts + part)
            share = 1.0 / (1.0 + tl.exp(lse - other))  # of the other one: a logistic function
            x = tl.load(part_ptr + (row * n_parts + part) * D + d)
            acc = acc + (x - acc) * share
            top = tl.maximum(lse, other)
            lse = top + tl.log(tl.exp(lse - top) + tl.exp(other - top))
    tl.store(out_ptr + row * D + d, acc.to(out_ptr.dtype.element_ty))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    out = torch.empty((b, hq, d), dtype=q.dtype, device=q.device)
    if b == 0:
        return out
    page_size, hkv = k_pages.shape[1:3]
    part = 64
    n_parts = triton.cdiv(block_table.shape[1] * page_size, part) + 1
    parts = torch.empty((b, hq, n_parts, d), dtype=torch.float32, device=q.device)
    lse = torch.empty((b, hq, n_parts), dtype=torch.float32, device=q.device)
    group = hq // hkv
    part_kernel[(n_parts, hkv, b)](
        q, k_pages, v_pages, block_table, lengths, parts, lse,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        page_size, group, hq, part,
        D=d, BLOCK_N=32, BLOCK_H=max(16, triton.next_power_of_2(group)),
    )  # fmt: skip
    merge_kernel[(b, hq)](parts, lse, lengths, out, n_parts, part, D=d)
    return out
