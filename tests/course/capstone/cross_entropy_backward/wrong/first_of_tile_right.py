"""All rows of a tile use the dloss of the tile's first row."""

import torch
import triton
import triton.language as tl


@triton.jit
def block_of(x_ptr, row, col, T, V, sr, sc):
    ok = (row < T)[:, None] & (col < V)[None, :]
    x = tl.load(x_ptr + row[:, None] * sr + col[None, :] * sc, mask=ok, other=float("-inf"))
    return x.to(tl.float32), ok


@triton.jit
def grads_kernel(x_ptr, t_ptr, d_ptr, out_ptr, T, V, sr, sc, sd, BR: tl.constexpr, BC: tl.constexpr):
    row = (tl.program_id(0) * BR + tl.arange(0, BR)).to(tl.int64)
    target = tl.load(t_ptr + row, mask=row < T, other=-100)
    valid = target >= 0
    dloss = tl.load(d_ptr + (row - row % BR) * sd, mask=(row < T) & valid, other=0.0)
    top = tl.full((BR,), float("-inf"), tl.float32)
    total = tl.zeros((BR,), tl.float32)
    c = 0
    while c < V:
        x, ok = block_of(x_ptr, row, (c + tl.arange(0, BC)).to(tl.int64), T, V, sr, sc)
        new_top = tl.maximum(top, tl.max(x, axis=1))
        base = tl.where(new_top == float("-inf"), 0.0, new_top)
        total = total * tl.exp(top - base) + tl.sum(tl.exp(x - base[:, None]), axis=1)
        top = new_top
        c += BC
    c = 0
    while c < V:
        col = (c + tl.arange(0, BC)).to(tl.int64)
        x, ok = block_of(x_ptr, row, col, T, V, sr, sc)
        share = tl.exp(x - top[:, None]) / total[:, None]
        one = tl.where(col[None, :] == target[:, None], 1.0, 0.0)
        grad = (share - one) * dloss[:, None]
        grad = tl.where(valid[:, None], grad, 0.0)
        tl.store(out_ptr + row[:, None] * V + col[None, :], grad.to(out_ptr.dtype.element_ty), mask=ok)
        c += BC


def cross_entropy_backward(logits, targets, dloss):
    t, v = logits.shape
    grad = torch.empty((t, v), dtype=logits.dtype, device=logits.device)
    if grad.numel() == 0:
        return grad
    grads_kernel[(triton.cdiv(t, 2),)](logits, targets, dloss, grad, t, v,
                                       *logits.stride(), *dloss.stride(), BR=2, BC=128)
    return grad
