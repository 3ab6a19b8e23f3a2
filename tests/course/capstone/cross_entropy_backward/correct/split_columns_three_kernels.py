"""Three kernels: parts of each row, their merge, and the gradient tile by tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def ceb_part(logits_ptr, m_ptr, s_ptr, n_cols, n_parts, stride_row, stride_col, PART: tl.constexpr):
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
def ceb_combine(m_ptr, s_ptr, top_ptr, total_ptr, n_parts, BLOCK_P: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    parts = tl.arange(0, BLOCK_P)
    m = tl.load(m_ptr + row * n_parts + parts, mask=parts < n_parts, other=float("-inf"))
    s = tl.load(s_ptr + row * n_parts + parts, mask=parts < n_parts, other=0.0)
    top = tl.max(m, axis=0)
    safe = tl.where(top == float("-inf"), 0.0, top)
    tl.store(top_ptr + row, safe)
    tl.store(total_ptr + row, tl.sum(s * tl.exp(m - safe), axis=0))


@triton.jit
def ceb_store(
    logits_ptr, targets_ptr, dloss_ptr, top_ptr, total_ptr, output_ptr, n_cols,
    stride_row, stride_col, stride_dloss, PART: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1).to(tl.int64) * PART + tl.arange(0, PART)
    ok = cols < n_cols
    target = tl.load(targets_ptr + row)
    grad = tl.zeros((PART,), tl.float32)
    if target != -100:
        x = tl.load(logits_ptr + row * stride_row + cols * stride_col, mask=ok, other=float("-inf"))
        share = tl.exp(x.to(tl.float32) - tl.load(top_ptr + row)) / tl.load(total_ptr + row)
        grad = tl.where(cols == target, share - 1.0, share) * tl.load(dloss_ptr + row * stride_dloss)
    tl.store(output_ptr + row * n_cols + cols, grad.to(output_ptr.dtype.element_ty), mask=ok)


def cross_entropy_backward(logits, targets, dloss):
    n_rows, n_cols = logits.shape
    part = 1024
    n_parts = triton.cdiv(n_cols, part)
    output = torch.empty((n_rows, n_cols), dtype=logits.dtype, device=logits.device)
    if output.numel() == 0:
        return output
    m = torch.empty((n_rows, n_parts), dtype=torch.float32, device=logits.device)
    s = torch.empty_like(m)
    top = torch.empty((n_rows,), dtype=torch.float32, device=logits.device)
    total = torch.empty_like(top)
    sr, sc = logits.stride()
    ceb_part[(n_rows, n_parts)](logits, m, s, n_cols, n_parts, sr, sc, PART=part)
    ceb_combine[(n_rows,)](m, s, top, total, n_parts, BLOCK_P=triton.next_power_of_2(n_parts))
    ceb_store[(n_rows, n_parts)](
        logits, targets, dloss, top, total, output, n_cols, sr, sc, dloss.stride(0), PART=part
    )
    return output
