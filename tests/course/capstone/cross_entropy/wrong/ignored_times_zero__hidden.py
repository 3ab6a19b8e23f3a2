"""The loss of a row that does not count is multiplied by 0, also where it is not finite."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_loss(logits_ptr, targets_ptr, losses_ptr, n_cols, stride_row, stride_col, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    weight = tl.where(target == -100, 0.0, 1.0)
    largest = float("-inf")
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * stride_row + cols * stride_col, mask=cols < n_cols, other=float("-inf"))
        largest = tl.maximum(largest, tl.max(x.to(tl.float32), axis=0))
    total = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * stride_row + cols * stride_col, mask=cols < n_cols, other=float("-inf"))
        total += tl.sum(tl.exp(x.to(tl.float32) - largest), axis=0)
    own = tl.load(logits_ptr + row * stride_row + target * stride_col, mask=target >= 0, other=0.0)
    tl.store(losses_ptr + row, (tl.log(total) + largest - own.to(tl.float32)) * weight)


def cross_entropy(logits, targets):
    rows, cols = logits.shape
    losses = torch.zeros((rows,), dtype=torch.float32, device=logits.device)
    if rows and cols:
        row_loss[(rows,)](logits, targets, losses, cols, *logits.stride(), BLOCK=256)
    return losses
