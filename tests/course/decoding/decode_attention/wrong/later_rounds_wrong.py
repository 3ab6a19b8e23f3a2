"""Maximum, sum and result are set up once per program and kept from one query head of the group
to the next.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def decode_kernel(q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, out_ptr,
                  sqb, sqh, sqd, skp, sks, skh, skd, svp, svs, svh, svd, stb, stp,
                  HQ, GROUP, PAGE, scale, D: tl.constexpr, BN: tl.constexpr):
    s = tl.program_id(0).to(tl.int64)
    kv = tl.program_id(1).to(tl.int64)
    d = tl.arange(0, D).to(tl.int64)
    length = tl.load(lengths_ptr + s)
    m = tl.full((1,), float("-inf"), tl.float32)
    l = tl.zeros((1,), tl.float32)
    acc = tl.zeros((D,), tl.float32)
    for g in range(0, GROUP):
        h = kv * GROUP + g
        q = tl.load(q_ptr + s * sqb + h * sqh + d * sqd).to(tl.float32)
        for start in range(0, length, BN):
            keys = start + tl.arange(0, BN)
            ok = keys < length
            page = tl.load(table_ptr + s * stb + (keys // PAGE).to(tl.int64) * stp, mask=ok, other=0).to(tl.int64)
            slot = (keys % PAGE).to(tl.int64)
            k = tl.load(k_ptr + page[:, None] * skp + slot[:, None] * sks + kv * skh + d[None, :] * skd,
                        mask=ok[:, None], other=0.0).to(tl.float32)
            v = tl.load(v_ptr + page[:, None] * svp + slot[:, None] * svs + kv * svh + d[None, :] * svd,
                        mask=ok[:, None], other=0.0).to(tl.float32)
            score = tl.sum(q[None, :] * k, axis=1) * scale
            score = tl.where(ok, score, float("-inf"))
            m_new = tl.maximum(m, tl.max(score, axis=0))
            alpha = tl.exp(m - m_new)
            p = tl.exp(score - m_new)
            l = l * alpha + tl.sum(p, axis=0)
            acc = acc * alpha + tl.sum(p[:, None] * v, axis=0)
            m = m_new
        norm = tl.where(l > 0, l, 1.0)
        tl.store(out_ptr + (s * HQ + h) * D + d, (acc / norm).to(out_ptr.dtype.element_ty))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    page_size, hkv = k_pages.shape[1], k_pages.shape[2]
    out = torch.empty((b, hq, d), dtype=q.dtype, device=q.device)
    if out.numel() == 0:
        return out
    decode_kernel[(b, hkv)](
        q, k_pages, v_pages, block_table, lengths, out,
        *q.stride(), *k_pages.stride(), *v_pages.stride(), *block_table.stride(),
        hq, hq // hkv, page_size, d ** -0.5, D=d, BN=32)
    return out
