"""A fixed number of programs goes through a flat list of heads and sequences."""

import math

import torch
import triton
import triton.language as tl

PROGRAMS = 7


@triton.jit
def persistent(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, out_ptr,
    qs, ks, vs, ts, n_work, n_heads, group, page_size, scale_log2,
    D: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    d = tl.arange(0, D).to(tl.int64)
    for work in range(tl.program_id(0), n_work, tl.num_programs(0)):
        wide = tl.cast(work, tl.int64)
        seq = wide // n_heads
        head = wide % n_heads
        kv = head // group
        length = tl.load(lengths_ptr + seq)
        q = tl.load(q_ptr + seq * qs[0] + head * qs[1] + d * qs[2]).to(tl.float32) * scale_log2
        # A column of independent online softmaxes, one for each lane of the block of keys.
        m = tl.full((N,), float("-inf"), tl.float32)
        l = tl.zeros((N,), tl.float32)
        acc = tl.zeros((N, D), tl.float32)
        for start in range(0, length, N):
            i = start + tl.arange(0, N)
            ok = i < length
            page = tl.load(table_ptr + seq * ts[0] + (i // page_size).to(tl.int64) * ts[1], mask=ok, other=0)
            page = page.to(tl.int64)
            slot = (i % page_size).to(tl.int64)
            kp = k_ptr + (page * ks[0] + slot * ks[1] + kv * ks[2])[:, None] + (d * ks[3])[None, :]
            vp = v_ptr + (page * vs[0] + slot * vs[1] + kv * vs[2])[:, None] + (d * vs[3])[None, :]
            k = tl.load(kp, mask=ok[:, None], other=0.0).to(tl.float32)
            v = tl.load(vp, mask=ok[:, None], other=0.0).to(tl.float32)
            x = tl.sum(k * q[None, :], axis=1)
            m_new = tl.where(ok, tl.maximum(m, x), m)
            # lanes without a key so far: -inf stays out of every difference
            safe = tl.where(m_new == float("-inf"), 0.0, m_new)
            a = tl.exp2(m - safe)
            p = tl.where(ok, tl.exp2(x - safe), 0.0)
            l = l * a + p
            acc = acc * a[:, None] + p[:, None] * v
            m = m_new
        top = tl.max(m, axis=0)
        top = tl.where(top == float("-inf"), 0.0, top)
        w = tl.exp2(m - top)
        total = tl.sum(l * w, axis=0)
        o = tl.sum(acc * w[:, None], axis=0) / tl.where(total > 0, total, 1.0)
        tl.store(out_ptr + wide * D + d, o.to(out_ptr.dtype.element_ty))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    out = torch.empty((b, hq, d), dtype=q.dtype, device=q.device)
    work = b * hq
    if work == 0:
        return out
    persistent[(min(PROGRAMS, work),)](
        q, k_pages, v_pages, block_table, lengths, out,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        work, hq, hq // k_pages.shape[2], k_pages.shape[1], math.log2(math.e) / math.sqrt(d),
        D=d, N=16,
    )  # fmt: skip
    return out
