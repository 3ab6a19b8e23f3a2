"""Programs share the columns of a row; a second kernel merges their parts."""

import torch
import triton
import triton.language as tl


@triton.jit
def ce_part(logits_ptr, m_ptr, s_ptr, n_cols, n_parts, stride_row, stride_col, PART: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    cols = part.to(tl.int64) * PART + tl.arange(0, PART)
    x = tl.load(
        logits_ptr + row * stride_row + cols * stride_col, mask=cols < n_cols, other=float("-inf")
    ).to(tl.float32)
    m = tl.max(x, axis=0)
    s = tl.sum(tl.where(x == float("-inf"), 0.0, tl.exp(x - m)), axis=0)
    tl.store(m_ptr + row * n_parts + part, m)
    tl.store(s_ptr + row * n_parts + part, s)


@triton.jit
def ce_combine(
    logits_ptr, targets_ptr, m_ptr, s_ptr, losses_ptr, n_parts, stride_row, stride_col, BLOCK_P: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    loss = 0.0
    if target != -100:
        parts = tl.arange(0, BLOCK_P)
        ok = parts < n_parts
        m = tl.load(m_ptr + row * n_parts + parts, mask=ok, other=float("-inf"))
        s = tl.load(s_ptr + row * n_parts + parts, mask=ok, other=0.0)
        top = tl.max(m, axis=0)
        total = tl.sum(s * tl.exp(m - top), axis=0)
        picked = tl.load(logits_ptr + row * stride_row + target * stride_col).to(tl.float32)
        loss = top + tl.log(total) - picked
    tl.store(losses_ptr + row, loss)


def cross_entropy(logits, targets):
    n_rows, n_cols = logits.shape
    part = 1024
    n_parts = triton.cdiv(n_cols, part)
    losses = torch.zeros((n_rows,), dtype=torch.float32, device=logits.device)
    if n_rows == 0 or n_cols == 0:
        return losses
    m = torch.empty((n_rows, n_parts), dtype=torch.float32, device=logits.device)
    s = torch.empty_like(m)
    ce_part[(n_rows, n_parts)](
        logits, m, s, n_cols, n_parts, logits.stride(0), logits.stride(1), PART=part
    )
    ce_combine[(n_rows,)](
        logits, targets, m, s, losses, n_parts, logits.stride(0), logits.stride(1),
        BLOCK_P=triton.next_power_of_2(n_parts),
    )
    return losses
