"""Puts the heads on axis 1 of the grid, where a GPU starts at most 65,535 programs."""

import torch
import triton
import triton.language as tl


@triton.jit
def view_offset(index, sizes, strides):
    offset = index.to(tl.int64) * 0
    rest = index
    for axis in tl.static_range(len(sizes)):
        offset += (rest % sizes[axis]).to(tl.int64) * strides[axis]
        rest = rest // sizes[axis]
    return offset


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, m, n, scale, sizes, q_lead, k_lead, v_lead,
                     q_sm, q_sd, k_sn, k_sd, v_sn, v_sd,
                     D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    block = tl.program_id(0)
    head = tl.program_id(1)
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q_ptr += view_offset(head, sizes, q_lead)
    k_ptr += view_offset(head, sizes, k_lead)
    v_ptr += view_offset(head, sizes, v_lead)
    row_ok = rows < m
    q = tl.load(q_ptr + rows.to(tl.int64)[:, None] * q_sm + d.to(tl.int64)[None, :] * q_sd, mask=row_ok[:, None], other=0.0)

    top = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    end = n
    if CAUSAL:
        end = tl.minimum(n, (block + 1) * BLOCK_M)
    for start in range(0, end, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        key_ok = keys < n
        keys64 = keys.to(tl.int64)
        k = tl.load(k_ptr + keys64[None, :] * k_sn + d.to(tl.int64)[:, None] * k_sd, mask=key_ok[None, :], other=0.0)
        v = tl.load(v_ptr + keys64[:, None] * v_sn + d.to(tl.int64)[None, :] * v_sd, mask=key_ok[:, None], other=0.0)
        scores = tl.dot(q, k, input_precision="ieee") * scale
        seen = key_ok[None, :]
        if CAUSAL:
            seen = seen & (keys[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp(scores - new_top[:, None])
        shrink = tl.exp(top - new_top)
        total = total * shrink + tl.sum(weights, 1)
        acc = acc * shrink[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        top = new_top
    result = acc / total[:, None]
    places = (head.to(tl.int64) * m + rows)[:, None] * D + d[None, :]
    tl.store(out_ptr + places, result.to(out_ptr.dtype.element_ty), mask=row_ok[:, None])


def attention(q, k, v, causal):
    m, d = q.shape[-2:]
    n = k.shape[-2]
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    if out.numel() == 0:
        return out
    if q.dim() == 2:
        q, k, v = q[None], k[None], v[None]
    lead = q.shape[:-2]
    heads = 1
    for size in lead:
        heads *= size
    block = 64 if d <= 64 else 32 if d <= 128 else 16
    grid = (triton.cdiv(m, block), heads)
    back = lambda t: tuple(reversed(t.stride()[:-2]))
    attention_kernel[grid](q, k, v, out, m, n, d**-0.5, tuple(reversed(lead)), back(q), back(k), back(v),
                           *q.stride()[-2:], *k.stride()[-2:], *v.stride()[-2:],
                           D=d, BLOCK_M=block, BLOCK_N=min(block, 32), CAUSAL=bool(causal), num_stages=1 if d > 128 else 2)
    return out
