"""Column numbers wrapped by %, no masks at loads, and no branch for rows that do not count."""

import torch
import triton
import triton.language as tl


@triton.jit
def branchless(x_ptr, t_ptr, l_ptr, n, sr, sc, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    t = tl.load(t_ptr + row)
    seen = tl.maximum(t, 0)
    best = -float("inf")
    for k in range(0, n, BLOCK):
        j = k + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + row * sr + (j % n) * sc).to(tl.float32)
        best = tl.maximum(best, tl.max(x, 0))
    total = 0.0
    for k in range(0, n, BLOCK):
        j = k + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + row * sr + (j % n) * sc).to(tl.float32)
        total += tl.sum(tl.where(j < n, tl.exp(x - best), 0.0), 0)
    mine = tl.load(x_ptr + row * sr + seen * sc, mask=n > 0, other=0.0).to(tl.float32)
    loss = best - mine + tl.log(total)
    tl.store(l_ptr + row, tl.where(t < 0, 0.0, loss))


def cross_entropy(logits, targets):
    rows, n = logits.shape
    losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
    branchless[(rows,)](logits, targets, losses, n, logits.stride(0), logits.stride(1), BLOCK=256)
    return losses
