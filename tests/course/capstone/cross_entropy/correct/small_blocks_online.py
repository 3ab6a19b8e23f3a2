"""Blocks of 128 columns, and a running maximum and sum as two numbers."""

import torch
import triton
import triton.language as tl


@triton.jit
def walk(logits_ptr, targets_ptr, losses_ptr, V, stride_t, stride_v, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    m = -float("inf")
    s = 0.0
    for first in range(0, V, BLOCK):
        cols = first + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(logits_ptr + row * stride_t + cols * stride_v, mask=cols < V, other=-float("inf")).to(tl.float32)
        top = tl.maximum(m, tl.max(x, 0))
        base = tl.where(top == -float("inf"), 0.0, top)
        s = s * tl.exp(m - base) + tl.sum(tl.exp(x - base), 0)
        m = top
    if target >= 0:
        mine = tl.load(logits_ptr + row * stride_t + target * stride_v).to(tl.float32)
        tl.store(losses_ptr + row, tl.log(s) + m - mine)
    else:
        tl.store(losses_ptr + row, 0.0)


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    losses = logits.new_empty(logits.shape[0], dtype=torch.float32)
    walk[(logits.shape[0],)](logits, targets, losses, logits.shape[1], logits.stride(0), logits.stride(1), BLOCK=128)
    return losses
