import torch
import triton
import triton.language as tl

import math


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 256}, num_warps=2),
        triton.Config({"BLOCK": 1024}, num_warps=4),
    ],
    key=["n"],
)
@triton.jit
def _kernel(
    x_ptr,
    o_ptr,
    n,
    d1,
    d2,
    d3,
    d4,
    d5,
    s0,
    s1,
    s2,
    s3,
    s4,
    s5,
    C: tl.constexpr,
    BLOCK: tl.constexpr,
):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    i5 = i % d5
    j = i // d5
    i4 = j % d4
    j = j // d4
    i3 = j % d3
    j = j // d3
    i2 = j % d2
    j = j // d2
    off = (j // d1) * s0 + (j % d1) * s1 + i2 * s2 + i3 * s3 + i4 * s4 + i5 * s5
    x = tl.load(x_ptr + off, mask=ok, other=0.0).to(tl.float32)
    p = tl.exp2(-C * (x + 0.044715 * x * x * x))
    tl.store(o_ptr + i, x / (1 + p), mask=ok)


def gelu(x):
    o = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if x.ndim > 6:
        rows = x.unbind(0)
        for row, target in zip(rows, o.unbind(0)):
            target.copy_(gelu(row))
        return o
    if x.numel() == 0:
        return o
    d = (1,) * (6 - x.ndim) + tuple(x.shape)
    s = (0,) * (6 - x.ndim) + x.stride()
    c = 2 * math.sqrt(2 / math.pi) * math.log2(math.e)
    _kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, o, x.numel(), *d[1:], *s, C=c)
    return o
