"""Takes a kernel without a tail for long aligned lengths that are not a multiple of its block."""

import torch
import triton
import triton.language as tl


@triton.jit
def wide_kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.max_contiguous(tl.arange(0, BLOCK), BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs) + tl.load(y_ptr + offs))


@triton.jit
def masked_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)


def vector_add(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    if n >= 4096 and n % 16 == 0:
        wide_kernel[(n // 4096,)](x, y, out, BLOCK=4096)
    else:
        masked_kernel[(triton.cdiv(n, 512),)](x, y, out, n, BLOCK=512)
    return out
