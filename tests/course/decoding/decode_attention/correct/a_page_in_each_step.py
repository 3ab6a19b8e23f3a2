"""Each step of the loop takes one page, with as many lanes as a page has slots, or more."""

import torch
import triton
import triton.language as tl


@triton.jit
def page_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, out_ptr, lse_ptr,
    q_strides, k_strides, v_strides, t_strides,
    page_size, pages_of_part, n_kv_heads, scale,
    GROUP: tl.constexpr, ROWS: tl.constexpr, D: tl.constexpr, SLOTS: tl.constexpr,
):  # fmt: skip
    part = tl.program_id(0)
    b = (tl.program_id(1) // n_kv_heads).to(tl.int64)
    kv = (tl.program_id(1) % n_kv_heads).to(tl.int64)
    length = tl.load(lengths_ptr + b)
    n_pages = (length + page_size - 1) // page_size
    first = part * pages_of_part
    last = tl.minimum(first + pages_of_part, n_pages)
    g = tl.arange(0, ROWS)
    d = tl.arange(0, D)
    s = tl.arange(0, SLOTS)
    q_at = b * q_strides[0] + (kv * GROUP + g)[:, None] * q_strides[1] + d[None, :] * q_strides[2]
    q = tl.load(q_ptr + q_at, mask=g[:, None] < GROUP, other=0.0)
    m = tl.full((ROWS,), float("-inf"), tl.float32)
    l = tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, D), tl.float32)
    for number in range(first, last):
        page = tl.load(table_ptr + b * t_strides[0] + number * t_strides[1]).to(tl.int64)
        left = length - number * page_size  # keys from this page on
        there = (s < page_size) & (s < left)
        k_at = page * k_strides[0] + kv * k_strides[2] + s[:, None] * k_strides[1]
        k = tl.load(k_ptr + k_at + d[None, :] * k_strides[3], mask=there[:, None], other=0.0)
        v_at = page * v_strides[0] + kv * v_strides[2] + s[:, None] * v_strides[1]
        v = tl.load(v_ptr + v_at + d[None, :] * v_strides[3], mask=there[:, None], other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(there[None, :], scores, float("-inf"))
        new = tl.maximum(m, tl.max(scores, axis=1))
        p = tl.exp(scores - new[:, None])
        alpha = tl.exp(m - new)
        l = l * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m = new
    empty = l == 0.0
    acc = acc / tl.where(empty, 1.0, l)[:, None]
    lse = tl.where(empty, float("-inf"), m + tl.log(tl.where(empty, 1.0, l)))
    rows = (b * n_kv_heads + kv) * GROUP + g
    place = rows * tl.num_programs(0) + part
    tl.store(out_ptr + place[:, None] * D + d[None, :], acc, mask=g[:, None] < GROUP)
    tl.store(lse_ptr + place, lse, mask=g < GROUP)


@triton.jit
def merge_kernel(out_ptr, lse_ptr, result_ptr, n_parts, D: tl.constexpr):
    row = tl.program_id(0)
    d = tl.arange(0, D)
    top = tl.full((), float("-inf"), tl.float32)
    total = 0.0
    acc = tl.zeros((D,), tl.float32)
    for part in range(n_parts):
        lse = tl.load(lse_ptr + row * n_parts + part)
        if lse > float("-inf"):
            new = tl.maximum(top, lse)
            old = tl.exp(top - new)
            w = tl.exp(lse - new)
            acc = acc * old + w * tl.load(out_ptr + (row * n_parts + part) * D + d)
            total = total * old + w
            top = new
    if total > 0:
        acc = acc / total
    tl.store(result_ptr + row * D + d, acc.to(result_ptr.dtype.element_ty))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    _, page_size, hkv, _ = k_pages.shape
    result = torch.empty((b, hq, d), device=q.device, dtype=q.dtype)
    if result.numel() == 0:
        return result
    n_parts = max(1, triton.cdiv(block_table.shape[1], 4))
    out = torch.empty((b * hq, n_parts, d), device=q.device, dtype=torch.float32)
    lse = torch.empty((b * hq, n_parts), device=q.device, dtype=torch.float32)
    group = hq // hkv
    page_kernel[(n_parts, b * hkv)](
        q, k_pages, v_pages, block_table, lengths, out, lse,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        page_size, 4, hkv, d**-0.5,
        GROUP=group, ROWS=max(16, triton.next_power_of_2(group)), D=d,
        SLOTS=max(16, triton.next_power_of_2(page_size)),
    )  # fmt: skip
    merge_kernel[(b * hq,)](out, lse, result, n_parts, D=d)
    return result
