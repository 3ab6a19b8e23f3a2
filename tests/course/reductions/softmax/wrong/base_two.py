"""Exp2 without the factor log2(e)."""

import torch
import triton
import triton.language as tl


LOG2E: tl.constexpr = 1.4426950408889634


@triton.jit
def k(x_ptr, y_ptr, n, s0, s1, B: tl.constexpr, EVEN: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    if EVEN:
        v = tl.load(x_ptr + r * s0 + c * s1)
    else:
        v = tl.load(x_ptr + r * s0 + c * s1, mask=c < n, other=float("-inf"))
    v = v.to(tl.float32)
    v -= tl.max(v, 0)
    e = tl.exp2(v)
    out = (e * (1.0 / tl.sum(e, 0))).to(y_ptr.dtype.element_ty)
    if EVEN:
        tl.store(y_ptr + r * n + c, out)
    else:
        tl.store(y_ptr + r * n + c, out, mask=c < n)


def softmax(x):
    rows, n = x.shape
    y = torch.empty((rows, n), dtype=x.dtype, device=x.device)
    if rows == 0 or n == 0:
        return y
    B = triton.next_power_of_2(n)
    k[(rows,)](x, y, n, x.stride(0), x.stride(1), B=B, EVEN=(B == n), num_warps=4, num_stages=2)
    return y
