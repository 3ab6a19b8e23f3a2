"""One program for each query head walks through all keys; products by multiply and sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def decode_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, output_ptr,
    stride_qb, stride_qh, stride_qd,
    stride_kp, stride_ks, stride_kh, stride_kd,
    stride_vp, stride_vs, stride_vh, stride_vd,
    stride_tb, stride_tp,
    n_heads, group, page_size, scale,
    D: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    b = (pid // n_heads).to(tl.int64)
    h = (pid % n_heads).to(tl.int64)
    kv = h // group
    length = tl.load(lengths_ptr + b)
    offs_d = tl.arange(0, D).to(tl.int64)
    q = tl.load(q_ptr + b * stride_qb + h * stride_qh + offs_d * stride_qd).to(tl.float32)
    m = -float("inf")
    l = 0.0
    acc = tl.zeros((D,), dtype=tl.float32)
    for start in range(0, length, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        mask = n < length
        page = tl.load(table_ptr + b * stride_tb + (n // page_size) * stride_tp, mask=mask, other=0)
        page = page.to(tl.int64)
        slot = (n % page_size).to(tl.int64)
        k_ptrs = k_ptr + (page * stride_kp + slot * stride_ks + kv * stride_kh)[:, None]
        k = tl.load(k_ptrs + offs_d[None, :] * stride_kd, mask=mask[:, None], other=0.0)
        s = tl.sum(k.to(tl.float32) * q[None, :], axis=1) * scale
        s = tl.where(mask, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=0))
        p = tl.exp(s - m_new)
        alpha = tl.exp(m - m_new)
        v_ptrs = v_ptr + (page * stride_vp + slot * stride_vs + kv * stride_vh)[:, None]
        v = tl.load(v_ptrs + offs_d[None, :] * stride_vd, mask=mask[:, None], other=0.0)
        acc = acc * alpha + tl.sum(p[:, None] * v.to(tl.float32), axis=0)
        l = l * alpha + tl.sum(p, axis=0)
        m = m_new
    acc = acc / tl.maximum(l, 1e-30)
    tl.store(output_ptr + pid * D + tl.arange(0, D), acc)


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    output = torch.empty((b, hq, d), dtype=q.dtype, device=q.device)
    if b * hq == 0:
        return output
    decode_kernel[(b * hq,)](
        q, k_pages, v_pages, block_table, lengths, output,
        *q.stride(), *k_pages.stride(), *v_pages.stride(), *block_table.stride(),
        hq, hq // k_pages.shape[2], k_pages.shape[1], 1.0 / d**0.5,
        D=d, BLOCK_N=64,
    )  # fmt: skip
    return output
