"""Every sequence reads row 0 of the table."""

import torch
import triton
import triton.language as tl

SPLITS = 5


@triton.jit
def partial(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, num_ptr, den_ptr, max_ptr,
    q_st, k_st, v_st, t_st, page_size, group, scale, n_splits,
    D: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    # Every sequence is divided into n_splits nearly equal ranges of its own keys.
    head = tl.program_id(0).to(tl.int64)
    seq = tl.program_id(1).to(tl.int64)
    split = tl.program_id(2)
    length = tl.load(lengths_ptr + seq).to(tl.int64)
    lo = length * split // n_splits
    hi = length * (split + 1) // n_splits
    kv = head // group
    cols = tl.arange(0, D).to(tl.int64)
    q = tl.load(q_ptr + seq * q_st[0] + head * q_st[1] + cols * q_st[2]).to(tl.float32)
    m = tl.full((), float("-inf"), tl.float32)
    den = tl.zeros((), tl.float32)
    num = tl.zeros((D,), tl.float32)
    for start in range(lo, hi, N):
        i = start + tl.arange(0, N)
        inside = i < hi
        page = tl.load(table_ptr + (i // page_size) * t_st[1], inside, 0).to(tl.int64)
        slot = i % page_size
        ko = page * k_st[0] + slot * k_st[1] + kv * k_st[2]
        vo = page * v_st[0] + slot * v_st[1] + kv * v_st[2]
        k = tl.load(k_ptr + ko[:, None] + (cols * k_st[3])[None, :], inside[:, None], 0.0)
        v = tl.load(v_ptr + vo[:, None] + (cols * v_st[3])[None, :], inside[:, None], 0.0)
        s = tl.sum(k.to(tl.float32) * q[None, :], 1) * scale
        s = tl.where(inside, s, float("-inf"))
        m2 = tl.maximum(m, tl.max(s, 0))
        f = tl.exp(m - m2)
        e = tl.exp(s - m2)
        den = den * f + tl.sum(e, 0)
        num = num * f + tl.sum(e[:, None] * v.to(tl.float32), 0)
        m = m2
    at = (seq * tl.num_programs(0) + head) * n_splits + split
    tl.store(max_ptr + at, m)  # -inf for a range without keys
    tl.store(den_ptr + at, den)
    tl.store(num_ptr + at * D + cols, num)


@triton.jit
def combine(num_ptr, den_ptr, max_ptr, out_ptr, n_splits, D: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, D)
    m = tl.full((), float("-inf"), tl.float32)
    for s in range(n_splits):
        m = tl.maximum(m, tl.load(max_ptr + row * n_splits + s))
    den = tl.zeros((), tl.float32)
    num = tl.zeros((D,), tl.float32)
    for s in range(n_splits):
        own = tl.load(max_ptr + row * n_splits + s)
        if own > float("-inf"):
            w = tl.exp(own - m)
            den += w * tl.load(den_ptr + row * n_splits + s)
            num += w * tl.load(num_ptr + (row * n_splits + s) * D + cols)
    result = num / tl.where(den > 0, den, 1.0)
    tl.store(out_ptr + row * D + cols, result.to(out_ptr.dtype.element_ty))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    out = q.new_empty((b, hq, d))
    if out.numel() == 0:
        return out
    page_size, hkv = k_pages.shape[1:3]
    num = torch.empty((b, hq, SPLITS, d), dtype=torch.float32, device=q.device)
    den = torch.empty((b, hq, SPLITS), dtype=torch.float32, device=q.device)
    top = torch.empty((b, hq, SPLITS), dtype=torch.float32, device=q.device)
    partial[(hq, b, SPLITS)](
        q, k_pages, v_pages, block_table, lengths, num, den, top,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        page_size, hq // hkv, d**-0.5, SPLITS, D=d, N=16,
    )  # fmt: skip
    combine[(b * hq,)](num, den, top, out, SPLITS, D=d)
    return out
