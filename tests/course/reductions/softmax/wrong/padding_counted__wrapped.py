"""The wrapped surplus lanes are counted a second time in the sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def k(x_ptr, y_ptr, n, s0, s1, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    w = c % n  # every address is legal, surplus lanes repeat real elements
    v = tl.load(x_ptr + r * s0 + w * s1).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    total = tl.sum(e, axis=0)
    tl.store(y_ptr + r * n + w, e / total, mask=c < n)


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if y.numel() != 0:
        k[(x.shape[0],)](x, y, x.shape[1], x.stride(0), x.stride(1), triton.next_power_of_2(x.shape[1]))
    return y
