"""Three kernels: all scores go to memory, then a softmax of rows, then the sums of the values."""

import torch
import triton
import triton.language as tl


@triton.jit
def score_kernel(
    q_ptr, k_ptr, table_ptr, lengths_ptr, s_ptr, qs, ks, ts, page_size, group, n, scale,
    D: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    b, h = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    i = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    seen = i < tl.load(lengths_ptr + b)
    page = tl.load(table_ptr + b * ts[0] + i // page_size * ts[1], mask=seen, other=0).to(tl.int64)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + b * qs[0] + h * qs[1] + d * qs[2]).to(tl.float32)
    at = page * ks[0] + (i % page_size) * ks[1] + (h // group) * ks[2]
    k = tl.load(k_ptr + at[:, None] + d[None, :] * ks[3], mask=seen[:, None], other=0.0)
    s = tl.sum(k.to(tl.float32) * q[None, :], axis=1) * scale
    s = tl.where(seen, s, -float("inf"))
    tl.store(s_ptr + (b * tl.num_programs(1) + h) * n + i, s, mask=i < n)


@triton.jit
def softmax_kernel(s_ptr, lengths_ptr, n_heads, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    if tl.load(lengths_ptr + row // n_heads) > 0:
        i = tl.arange(0, BLOCK)
        s = tl.load(s_ptr + row * n + i, mask=i < n, other=-float("inf"))
        w = tl.exp(s - tl.max(s, axis=0))
        tl.store(s_ptr + row * n + i, w / tl.sum(w, axis=0), mask=i < n)


@triton.jit
def value_kernel(
    w_ptr, v_ptr, table_ptr, lengths_ptr, output_ptr, vs, ts, page_size, group, n,
    D: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    b, h = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    row = b * tl.num_programs(1) + h
    length = tl.load(lengths_ptr + b)
    d = tl.arange(0, D)
    acc = tl.zeros((D,), tl.float32)
    for start in range(0, length, BLOCK):
        i = start + tl.arange(0, BLOCK)
        seen = i < length
        page = tl.load(table_ptr + b * ts[0] + i // page_size * ts[1], mask=seen, other=0)
        at = page.to(tl.int64) * vs[0] + (i % page_size) * vs[1] + (h // group) * vs[2]
        v = tl.load(v_ptr + at[:, None] + d[None, :] * vs[3], mask=seen[:, None], other=0.0)
        w = tl.load(w_ptr + row * n + i, mask=seen, other=0.0)
        acc += tl.sum(w[:, None] * v.to(tl.float32), axis=0)
    tl.store(output_ptr + row * D + d, acc)


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    output = torch.zeros((b, hq, d), dtype=q.dtype, device=q.device)
    page_size = k_pages.shape[1]
    n = block_table.shape[1] * page_size
    if output.numel() == 0 or n == 0:
        return output
    group = hq // k_pages.shape[2]
    s = torch.empty((b, hq, n), dtype=torch.float32, device=q.device)
    score_kernel[(b, hq, triton.cdiv(n, 64))](
        q, k_pages, block_table, lengths, s,
        q.stride(), k_pages.stride(), block_table.stride(), page_size, group, n, d**-0.5,
        D=d, BLOCK=64,
    )  # fmt: skip
    softmax_kernel[(b * hq,)](s, lengths, hq, n, BLOCK=triton.next_power_of_2(n))
    value_kernel[(b, hq)](
        s, v_pages, block_table, lengths, output,
        v_pages.stride(), block_table.stride(), page_size, group, n, D=d, BLOCK=64,
    )  # fmt: skip
    return output
