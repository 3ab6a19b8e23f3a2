"""Each lane has a maximum and a sum of its own; the second walk goes backwards."""

import torch
import triton
import triton.language as tl


@triton.jit
def ceb_lanes(
    logits_ptr, targets_ptr, dloss_ptr, output_ptr, n_cols, stride_row, stride_col, stride_dloss,
    LANES: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    logits_ptr += row * stride_row
    output_ptr += row * n_cols
    lanes = tl.arange(0, LANES).to(tl.int64)
    n_blocks = tl.cdiv(n_cols, LANES)
    if target == -100:
        for k in range(n_blocks):
            cols = k * LANES + lanes
            tl.store(output_ptr + cols, 0.0, mask=cols < n_cols)
    else:
        # Each lane has a maximum and a sum of its own.
        m = tl.full((LANES,), float("-inf"), tl.float32)
        s = tl.zeros((LANES,), tl.float32)
        for k in range(n_blocks):
            cols = k * LANES + lanes
            x = tl.load(logits_ptr + cols * stride_col, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
            m_new = tl.maximum(m, x)
            dead = m_new == float("-inf")
            s = tl.where(dead, 0.0, s * tl.exp(m - m_new) + tl.exp(x - m_new))
            m = m_new
        top = tl.max(m, axis=0)
        total = tl.sum(s * tl.exp(m - top), axis=0)
        dloss = tl.load(dloss_ptr + row * stride_dloss)
        # Backwards: the end of the row is still in the cache.
        for k in range(n_blocks):
            cols = (n_blocks - 1 - k) * LANES + lanes
            x = tl.load(logits_ptr + cols * stride_col, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
            share = tl.exp(x - top) / total
            tl.store(output_ptr + cols, tl.where(cols == target, share - 1, share) * dloss, mask=cols < n_cols)


def cross_entropy_backward(logits, targets, dloss):
    n_rows, n_cols = logits.shape
    output = torch.empty((n_rows, n_cols), dtype=logits.dtype, device=logits.device)
    ceb_lanes[(n_rows,)](
        logits, targets, dloss, output, n_cols,
        logits.stride(0), logits.stride(1), dloss.stride(0), LANES=256, num_warps=4,
    )
    return output
