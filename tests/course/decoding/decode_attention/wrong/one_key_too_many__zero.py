"""The scores are kept for one key too many, whose loads are masked: it has the score 0."""

import torch
import triton
import triton.language as tl


@triton.jit
def _decode(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, out_ptr,
    qs0, qs1, qs2, ks0, ks1, ks2, ks3, vs0, vs1, vs2, vs3, ts0, ts1,
    page_size, group, n_heads, scale,
    D: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    seq = (pid // n_heads).to(tl.int64)
    head = (pid % n_heads).to(tl.int64)
    kv_head = head // group
    d = tl.arange(0, D).to(tl.int64)
    q = tl.load(q_ptr + seq * qs0 + head * qs1 + d * qs2).to(tl.float32) * scale
    n = tl.load(lengths_ptr + seq)
    m = float("-inf")
    l = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    for lo in range(0, n + 1, BLOCK):
        i = lo + tl.arange(0, BLOCK)
        ok = i < n
        page = tl.load(
            table_ptr + seq * ts0 + (i // page_size).to(tl.int64) * ts1, mask=ok, other=0
        ).to(tl.int64)
        slot = (i % page_size).to(tl.int64)
        k = tl.load(
            k_ptr + (page * ks0 + slot * ks1 + kv_head * ks2)[:, None] + d[None, :] * ks3,
            mask=ok[:, None],
            other=0.0,
        ).to(tl.float32)
        s = tl.sum(q[None, :] * k, axis=1)
        s = tl.where(i <= n, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, axis=0))
        alpha = tl.exp(m - m_new)
        p = tl.exp(s - m_new)
        v = tl.load(
            v_ptr + (page * vs0 + slot * vs1 + kv_head * vs2)[:, None] + d[None, :] * vs3,
            mask=ok[:, None],
            other=0.0,
        ).to(tl.float32)
        acc = acc * alpha + tl.sum(p[:, None] * v, axis=0)
        l = l * alpha + tl.sum(p, axis=0)
        m = m_new
    if n > 0:
        acc = acc / l
    tl.store(out_ptr + (seq * n_heads + head) * D + d, acc.to(out_ptr.dtype.element_ty))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    _, page_size, hkv, _ = k_pages.shape
    out = torch.empty((b, hq, d), dtype=q.dtype, device=q.device)
    if out.numel():
        _decode[(b * hq,)](
            q, k_pages, v_pages, block_table, lengths, out,
            *q.stride(), *k_pages.stride(), *v_pages.stride(), *block_table.stride(),
            page_size, hq // hkv, hq, d**-0.5,
            D=d, BLOCK=32,
        )  # fmt: skip
    return out
