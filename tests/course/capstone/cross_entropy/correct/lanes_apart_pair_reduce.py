"""Each lane has a maximum and a sum of its own; tl.reduce merges the pairs."""

import torch
import triton
import triton.language as tl


@triton.jit
def merge_pair(m_a, s_a, m_b, s_b):
    m = tl.maximum(m_a, m_b)
    e_a = tl.where(m_a == float("-inf"), 0.0, tl.exp(m_a - m))
    e_b = tl.where(m_b == float("-inf"), 0.0, tl.exp(m_b - m))
    return m, s_a * e_a + s_b * e_b


@triton.jit
def ce_lanes(logits_ptr, targets_ptr, losses_ptr, n_cols, stride_row, stride_col, LANES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    if target == -100:
        tl.store(losses_ptr + row, 0.0)
    else:
        logits_ptr += row * stride_row
        # Each lane keeps its own maximum and its own sum; they meet once, behind the loop.
        m = tl.full((LANES,), float("-inf"), tl.float32)
        s = tl.zeros((LANES,), tl.float32)
        cols = tl.arange(0, LANES).to(tl.int64)
        for _ in range(0, n_cols, LANES):
            x = tl.load(logits_ptr + cols * stride_col, mask=cols < n_cols, other=float("-inf")).to(tl.float32)
            one = tl.where(x == float("-inf"), 0.0, 1.0)
            m, s = merge_pair(m, s, x, one)
            cols += LANES
        top, total = tl.reduce((m, s), 0, merge_pair)
        picked = tl.load(logits_ptr + target * stride_col).to(tl.float32)
        tl.store(losses_ptr + row, (top - picked) + tl.log(total))


def cross_entropy(logits, targets):
    n_rows, n_cols = logits.shape
    losses = torch.empty((n_rows,), dtype=torch.float32, device=logits.device)
    ce_lanes[(n_rows,)](
        logits, targets, losses, n_cols, logits.stride(0), logits.stride(1), LANES=128, num_warps=4
    )
    return losses
