"""The negative zero becomes the positive one."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(src, dst, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    v = tl.load(src + offs, mask=mask)
    tl.store(dst + offs, tl.where(v == 0, tl.zeros_like(v), v), mask=mask)


def copy(x):
    out = torch.empty_like(x)
    n = x.numel()
    if n == 0:
        return out
    grid = (triton.cdiv(n, 128),)
    copy_kernel[grid](x, out, n, BLOCK=128)
    return out
