"""Blocks of 128 columns: one walk for the maximum, one for the sum, one to store."""

import torch
import triton
import triton.language as tl


@triton.jit
def three_walks(x_ptr, t_ptr, dl_ptr, dx_ptr, V, st, sv, sl, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    t = tl.load(t_ptr + row)
    x_ptr += row * st
    dx_ptr += row * V
    m = float("-inf")
    for k in range(0, V, BLOCK):
        c = k + tl.arange(0, BLOCK).to(tl.int64)
        m = tl.maximum(m, tl.max(tl.load(x_ptr + c * sv, mask=c < V, other=float("-inf")).to(tl.float32), 0))
    s = 0.0
    for k in range(0, V, BLOCK):
        c = k + tl.arange(0, BLOCK).to(tl.int64)
        s += tl.sum(tl.exp(tl.load(x_ptr + c * sv, mask=c < V, other=float("-inf")).to(tl.float32) - m), 0)
    scale = tl.load(dl_ptr + row * sl)
    for k in range(0, V, BLOCK):
        c = k + tl.arange(0, BLOCK).to(tl.int64)
        x = tl.load(x_ptr + c * sv, mask=c < V, other=float("-inf")).to(tl.float32)
        d = tl.exp(x - m) / s
        d = tl.where(c == t, d - 1.0, d) * scale
        d = tl.where(t == -100, 0.0, d)
        tl.store(dx_ptr + c, d.to(dx_ptr.dtype.element_ty), mask=c < V)


def cross_entropy_backward(logits, targets, dloss):
    dx = torch.empty(logits.shape, dtype=logits.dtype, device=logits.device)
    three_walks[(logits.shape[0],)](
        logits, targets, dloss, dx, logits.shape[1], *logits.stride(), dloss.stride(0), BLOCK=128
    )
    return dx
