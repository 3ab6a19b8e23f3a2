"""The running maximum starts at 0."""

import math

import torch
import triton
import triton.language as tl



@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, m, n,
    q_h, q_m, q_d, k_h, k_n, k_d, v_h, v_n, v_d,
    CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    block = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D).to(tl.int64)
    rows64 = rows.to(tl.int64)
    q = tl.load(q_ptr + head * q_h + rows64[:, None] * q_m + d[None, :] * q_d, mask=rows[:, None] < m, other=0.0)

    best = tl.zeros((BLOCK_M,), dtype=tl.float32)
    denom = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    end = n
    if CAUSAL:
        end = min(n, (block + 1) * BLOCK_M)
    for start in range(0, end, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        cols64 = cols.to(tl.int64)
        k = tl.load(k_ptr + head * k_h + cols64[:, None] * k_n + d[None, :] * k_d, mask=cols[:, None] < n, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        visible = cols[None, :] < n
        if CAUSAL:
            visible = visible & (cols[None, :] <= rows[:, None])
        scores = tl.where(visible, scores, float("-inf"))
        new_top = tl.maximum(best, tl.max(scores, axis=1))
        alpha = tl.exp(best - new_top)
        weights = tl.exp(scores - new_top[:, None])
        v = tl.load(v_ptr + head * v_h + cols64[:, None] * v_n + d[None, :] * v_d, mask=cols[:, None] < n, other=0.0)
        denom = denom * alpha + tl.sum(weights, axis=1)
        acc = acc * alpha[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        best = new_top
    acc = acc / denom[:, None]
    tl.store(out_ptr + (head * m + rows64)[:, None] * D + d[None, :], acc.to(out_ptr.dtype.element_ty), mask=rows[:, None] < m)


def attention(q, k, v, causal):
    *lead, m, d = q.shape
    n = k.shape[-2]
    out = torch.empty(q.shape, device=q.device, dtype=q.dtype)
    if out.numel() == 0:
        return out
    if n == 0:
        return out.zero_()
    heads = math.prod(lead)
    q3, k3, v3 = q.reshape(heads, m, d), k.reshape(heads, n, d), v.reshape(heads, n, d)
    BLOCK_M, BLOCK_N = (64, 32) if d <= 64 else (32, 32)
    grid = (triton.cdiv(m, BLOCK_M), heads)
    attention_kernel[grid](
        q3, k3, v3, out, 1 / math.sqrt(d), m, n, *q3.stride(), *k3.stride(), *v3.stride(),
        CAUSAL=causal, D=d, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N,
    )
    return out
