"""The scores are summed over slices of d."""

import torch
import triton
import triton.language as tl


@triton.jit
def sliced(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, out_ptr,
    qs, ks, vs, ts, page_size, group, n_heads, scale,
    D: tl.constexpr, SLICE: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """One program for 16 numbers of the output; the scores are summed up slice by slice."""
    row = tl.program_id(0).to(tl.int64)
    seq = row // n_heads
    head = row % n_heads
    kv = head // group
    mine = (tl.program_id(1) * SLICE + tl.arange(0, SLICE)).to(tl.int64)
    length = tl.load(lengths_ptr + seq)
    m = tl.full((1,), float("-inf"), tl.float32)
    l = tl.zeros((1,), tl.float32)
    acc = tl.zeros((SLICE,), tl.float32)
    for start in range(0, length, N):
        i = start + tl.arange(0, N)
        live = i < length
        page = tl.load(table_ptr + seq * ts[0] + (i // page_size).to(tl.int64) * ts[1], mask=live, other=0).to(tl.int64)
        slot = (i % page_size).to(tl.int64)
        k_rows = page * ks[0] + slot * ks[1] + kv * ks[2]
        v_rows = page * vs[0] + slot * vs[1] + kv * vs[2]
        s = tl.zeros((N,), tl.float32)
        for first in tl.static_range(0, D, SLICE):
            part = (first + tl.arange(0, SLICE)).to(tl.int64)
            q = tl.load(q_ptr + seq * qs[0] + head * qs[1] + part * qs[2]).to(tl.float32)
            k = tl.load(k_ptr + k_rows[:, None] + part[None, :] * ks[3], mask=live[:, None], other=0.0)
            s += tl.sum(q[None, :] * k.to(tl.float32), axis=1)
        s = tl.where(live, s * scale, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, axis=0, keep_dims=True))
        a = tl.exp(m - m_new)
        p = tl.exp(s - m_new)
        l = l * a + tl.sum(p, axis=0, keep_dims=True)
        v = tl.load(v_ptr + v_rows[:, None] + mine[None, :] * vs[3], mask=live[:, None], other=0.0)
        acc = acc * a + tl.sum(p[:, None] * v.to(tl.float32), axis=0)
        m = m_new
    acc = tl.where(length > 0, acc / l, 0.0)
    tl.store(out_ptr + row * D + mine, acc.to(out_ptr.dtype.element_ty))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    out = torch.empty((b, hq, d), dtype=q.dtype, device=q.device)
    if out.numel() == 0:
        return out
    sliced[(b * hq, d // 16)](
        q, k_pages, v_pages, block_table, lengths, out,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        k_pages.shape[1], hq // k_pages.shape[2], hq, d**-0.5, D=d, SLICE=16, N=32,
    )  # fmt: skip
    return out
