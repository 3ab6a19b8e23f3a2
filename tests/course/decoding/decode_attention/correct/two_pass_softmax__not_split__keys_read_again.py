"""One walk finds the largest score, a second one sums with final weights."""

import torch
import triton
import triton.language as tl


@triton.jit
def two_pass(
    q_ptr, k_ptr, v_ptr, t_ptr, len_ptr, o_ptr,
    q_stride, k_stride, v_stride, t_stride,
    page_size, group, n_heads, scale, D: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    s = tl.program_id(1).to(tl.int64)
    h = tl.program_id(0).to(tl.int64)
    g = h // group
    od = tl.arange(0, D).to(tl.int64)
    on = tl.arange(0, N)
    length = tl.load(len_ptr + s)
    q = tl.load(q_ptr + s * q_stride[0] + h * q_stride[1] + od * q_stride[2]).to(tl.float32)
    t_row = t_ptr + s * t_stride[0]

    # first pass: the largest score
    best = tl.full((N,), float("-inf"), tl.float32)
    for start in range(0, length, N):
        i = start + on
        mask = i < length
        page = tl.load(t_row + (i // page_size).to(tl.int64) * t_stride[1], mask=mask, other=0).to(tl.int64)
        off = page * k_stride[0] + (i % page_size).to(tl.int64) * k_stride[1] + g * k_stride[2]
        k = tl.load(k_ptr + off[:, None] + od[None, :] * k_stride[3], mask=mask[:, None], other=0.0)
        score = tl.sum(k.to(tl.float32) * q[None, :], axis=1) * scale
        best = tl.maximum(best, tl.where(mask, score, float("-inf")))
    m = tl.max(best, axis=0)

    # second pass: weights that are final, so nothing is ever rescaled
    total = tl.zeros((N,), tl.float32)
    acc = tl.zeros((D,), tl.float32)
    for start in range(0, length, N):
        i = start + on
        mask = i < length
        page = tl.load(t_row + (i // page_size).to(tl.int64) * t_stride[1], mask=mask, other=0).to(tl.int64)
        slot = (i % page_size).to(tl.int64)
        k_off = page * k_stride[0] + slot * k_stride[1] + g * k_stride[2]
        v_off = page * v_stride[0] + slot * v_stride[1] + g * v_stride[2]
        k = tl.load(k_ptr + k_off[:, None] + od[None, :] * k_stride[3], mask=mask[:, None], other=0.0)
        v = tl.load(v_ptr + v_off[:, None] + od[None, :] * v_stride[3], mask=mask[:, None], other=0.0)
        score = tl.sum(k.to(tl.float32) * q[None, :], axis=1) * scale
        p = tl.where(mask, tl.exp(score - m), 0.0)
        total += p
        acc += tl.sum(p[:, None] * v.to(tl.float32), axis=0)
    out = o_ptr + (s * n_heads + h) * D + od
    if length == 0:
        tl.store(out, tl.zeros((D,), o_ptr.dtype.element_ty))
    else:
        tl.store(out, (acc / tl.sum(total, axis=0)).to(o_ptr.dtype.element_ty))


def decode_attention(q, k_pages, v_pages, block_table, lengths):
    b, hq, d = q.shape
    out = torch.empty((b, hq, d), dtype=q.dtype, device=q.device)
    if out.numel() == 0:
        return out
    two_pass[(hq, b)](
        q, k_pages, v_pages, block_table, lengths, out,
        q.stride(), k_pages.stride(), v_pages.stride(), block_table.stride(),
        k_pages.size(1), hq // k_pages.size(2), hq, d**-0.5, D=d, N=64,
    )  # fmt: skip
    return out
