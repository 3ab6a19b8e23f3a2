"""The target's logit is picked by a product with 0 and 1."""

import torch
import triton
import triton.language as tl

IGNORE = tl.constexpr(-100)


@triton.jit
def cross_entropy_kernel(logits_ptr, targets_ptr, loss_ptr, v, stride_t, stride_v, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets_ptr + row)
    if target == IGNORE:
        tl.store(loss_ptr + row, 0.0)
        return
    logits_ptr += row * stride_t
    # each lane keeps its own maximum and its own sum; they meet after the walk
    m = tl.full((BLOCK,), float("-inf"), tl.float32)
    s = tl.zeros((BLOCK,), tl.float32)
    picked = 0.0
    for start in range(0, v, BLOCK):
        cols = start + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(logits_ptr + cols * stride_v, mask=cols < v, other=float("-inf")).to(tl.float32)
        new = tl.maximum(m, x)
        safe = tl.where(new == float("-inf"), 0.0, new)
        s = s * tl.exp(m - safe) + tl.exp(x - safe)
        m = new
        hit = (cols == target).to(tl.float32)
        picked += tl.sum(tl.where(cols < v, x, 0.0) * hit, axis=0)
    top = tl.max(m, axis=0)
    total = tl.sum(s * tl.exp(m - top), axis=0)
    tl.store(loss_ptr + row, tl.log(total) + top - picked)


def cross_entropy(logits, targets):
    t, v = logits.shape
    loss = torch.empty((t,), dtype=torch.float32, device=logits.device)
    if t > 0:
        cross_entropy_kernel[(t,)](logits, targets, loss, v, logits.stride(0), logits.stride(1), BLOCK=64)
    return loss
