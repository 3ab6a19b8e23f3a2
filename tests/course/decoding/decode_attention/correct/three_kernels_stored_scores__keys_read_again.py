"""Scores are stored, normalised and multiplied by three kernels."""

import torch
import triton
import triton.language as tl


@triton.jit
def score_kernel(
    q_ptr, k_ptr, table_ptr, lengths_ptr, scores_ptr, qs, ks, ts,
    page_size, group, width, scale, D: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    seq = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1).to(tl.int64)
    i = tl.program_id(2).to(tl.int64) * N + tl.arange(0, N)
    length = tl.load(lengths_ptr + seq)
    live = i < length
    d = tl.arange(0, D).to(tl.int64)
    q = tl.load(q_ptr + seq * qs[0] + head * qs[1] + d * qs[2]).to(tl.float32)
    page = tl.load(table_ptr + seq * ts[0] + (i // page_size) * ts[1], mask=live, other=0).to(tl.int64)
    rows = page * ks[0] + (i % page_size) * ks[1] + (head // group) * ks[2]
    k = tl.load(k_ptr + rows[:, None] + d[None, :] * ks[3], mask=live[:, None], other=0.0).to(tl.float32)
    s = tl.where(live, tl.sum(k * q[None, :], axis=1) * scale, float("-inf"))
    row = seq * tl.num_programs(1) + head
    tl.store(scores_ptr + row * width + i, s, mask=i < width)


@triton.jit
def softmax_kernel(scores_ptr, lengths_ptr, n_heads, width, W: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, W)
    s = tl.load(scores_ptr + row * width + i, mask=i < width, other=float("-inf"))
    top = tl.max(s, axis=0)
    if tl.load(lengths_ptr + row // n_heads) == 0:
        top = 0.0
    e = tl.exp(s - top)
    total = tl.sum(e, axis=0)
    p = e / tl.maximum(total, 1e-30)  # the largest e is 1, unless there is no key
    tl.store(scores_ptr + row * width + i, p, mask=i < width)


@triton.jit
def value_kernel(
    p_ptr, v_ptr, table_ptr, lengths_ptr, out_ptr, vs, ts,
    page_size, group, width, D: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    seq = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1).to(tl.int64)
    row = seq * tl.num_programs(1) + head
    length = tl.load(lengths_ptr + seq)
    d = tl.arange(0, D).to(tl.int64)
    acc = tl.zeros((D,), tl.float32)
    for start in range(0, length, N):
        i = (start + tl.arange(0, N)).to(tl.int64)
        live = i < length
        page = tl.load(table_ptr + seq * ts[0] + (i // page_size) * ts[1], mask=live, other=0).to(tl.int64)
        rows = page * vs[0] + (i % page_size) * vs[1] + (head // group) * vs[2]
        v = tl.load(v_ptr + rows[:, None] + d[None, :] * vs[3], mask=live[:, None], other=0.0).to(tl.float32)
        p = tl.load(p_ptr + row * width + i, mask=live, other=0.0)
        acc += tl.sum(p[:, None] * v, axis=0)
    tl.store(out_ptr + row * D + d, acc.to(out_ptr.dtype.element_ty))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    out = torch.empty((b, hq, d), dtype=q.dtype, device=q.device)
    if out.numel() == 0:
        return out
    page_size, hkv = k_pages.shape[1], k_pages.shape[2]
    width = block_table.shape[1] * page_size
    if width == 0:
        return out.zero_()
    group = hq // hkv
    scores = torch.empty((b, hq, width), dtype=torch.float32, device=q.device)
    t = block_table.stride()
    score_kernel[(b, hq, triton.cdiv(width, 64))](
        q, k_pages, block_table, lengths, scores, q.stride(), k_pages.stride(), t,
        page_size, group, width, d**-0.5, D=d, N=64,
    )  # fmt: skip
    softmax_kernel[(b * hq,)](scores, lengths, hq, width, W=triton.next_power_of_2(width))
    value_kernel[(b, hq)](
        scores, v_pages, block_table, lengths, out, v_pages.stride(), t, page_size, group, width, D=d, N=64
    )
    return out
