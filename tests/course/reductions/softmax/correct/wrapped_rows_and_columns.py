"""Rows and columns beyond the end are wrapped, no mask: some rows are stored twice, equal."""

import torch
import triton
import triton.language as tl


@triton.jit
def wrapped(x, y, R, C, sr, sc, BR: tl.constexpr, BC: tl.constexpr):
    r = (tl.program_id(0) * BR + tl.arange(0, BR)) % R
    c = tl.arange(0, BC)
    cc = c % C
    v = tl.load(x + r.to(tl.int64)[:, None] * sr + cc.to(tl.int64)[None, :] * sc).to(tl.float32)
    v = v - tl.max(v, 1)[:, None]
    e = tl.exp(v)
    e_once = tl.where((c < C)[None, :], e, 0.0)
    out = e / tl.sum(e_once, 1)[:, None]
    # the doubled places hold the same value: writing them again changes nothing
    tl.store(y + r.to(tl.int64)[:, None] * C + cc[None, :], out.to(y.dtype.element_ty))


def softmax(x):
    R, C = x.shape
    y = torch.empty((R, C), dtype=x.dtype, device=x.device)
    if min(R, C) == 0:
        return y
    BR = 4
    wrapped[((R + BR - 1) // BR,)](x, y, R, C, x.stride(0), x.stride(1), BR, triton.next_power_of_2(C))
    return y
