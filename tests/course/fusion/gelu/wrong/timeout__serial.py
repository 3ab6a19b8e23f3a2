"""One program walks through all elements, one by one."""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n):
    for i in range(n):
        x = tl.load(x_ptr + i).to(tl.float32)
        z = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        tl.store(out_ptr + i, x * tl.sigmoid(2.0 * z))


def gelu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    gelu_kernel[(1,)](x, out, x.numel())
    return out
