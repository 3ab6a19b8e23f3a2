"""The loads are masked, the store is not."""

import torch
import triton
import triton.language as tl


@triton.jit
def k(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    va = tl.load(a + i, mask=i < n, other=0)
    vb = tl.load(b + i, mask=i < n, other=0)
    tl.store(c + i, va + vb)


def vector_add(x, y):
    z = torch.empty_like(x)
    k[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, z, x.numel(), BLOCK=256)
    return z
