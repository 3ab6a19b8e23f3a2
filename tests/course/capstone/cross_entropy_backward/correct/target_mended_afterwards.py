"""Shares times dloss first; the column of the target is stored in a second launch."""

import torch
import triton
import triton.language as tl


@triton.jit
def shares(x_ptr, t_ptr, g_ptr, o_ptr, n, sr, sc, sg, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * sr + j.to(tl.int64) * sc, mask=j < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    t = tl.load(t_ptr + i)
    g = tl.load(g_ptr + i * sg)
    tl.store(o_ptr + i * n + j, tl.where(t < 0, 0.0, e * g / tl.sum(e, 0)), mask=(j < n) & (j != t))


@triton.jit
def at_target(x_ptr, t_ptr, g_ptr, o_ptr, n, sr, sc, sg, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    j = tl.arange(0, BLOCK)
    t = tl.load(t_ptr + i)
    if t >= 0:
        x = tl.load(x_ptr + i * sr + j.to(tl.int64) * sc, mask=j < n, other=-float("inf")).to(tl.float32)
        top = tl.max(x, 0)
        mine = tl.load(x_ptr + i * sr + t * sc).to(tl.float32)
        share = tl.exp(mine - top) / tl.sum(tl.exp(x - top), 0)
        d = (share - 1.0) * tl.load(g_ptr + i * sg)
        tl.store(o_ptr + i * n + t, d.to(o_ptr.dtype.element_ty))


def cross_entropy_backward(logits, targets, dloss):
    m, n = logits.shape
    out = torch.empty((m, n), dtype=logits.dtype, device=logits.device)
    block = triton.next_power_of_2(max(1, n))
    for kernel in (shares, at_target):
        kernel[(m,)](logits, targets, dloss, out, n, *logits.stride(), dloss.stride(0), BLOCK=block)
    return out
